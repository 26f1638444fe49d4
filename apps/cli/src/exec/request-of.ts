import type { ExecuteCommandRequest } from '@codelanes/protocol';
import { protocolVersion, workspaceToolRequestSchema } from '@codelanes/protocol';
import { CliError } from '../errors/cli-error.js';
import { shellLine } from './shell-line.js';

export interface CommandFlags {
  readonly repository?: string | undefined;
  readonly worktree?: string | undefined;
  readonly cwd?: string | undefined;
  readonly timeout?: number | undefined;
}

/**
 * The request that runs the words of a command line in a lane.
 *
 * @throws CliError naming what the protocol does not take.
 */
export function requestOf(
  workspaceId: string,
  words: readonly string[],
  { repository, worktree, cwd, timeout }: CommandFlags,
): ExecuteCommandRequest {
  const parsed = workspaceToolRequestSchema.safeParse({
    protocolVersion,
    operation: 'execute_command',
    workspaceId,
    command: shellLine(words),
    ...(repository !== undefined && { repository }),
    ...(worktree !== undefined && { worktree }),
    ...(cwd !== undefined && { cwd }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
  });
  if (parsed.success && parsed.data.operation === 'execute_command') return parsed.data;
  const [issue] = parsed.error?.issues ?? [];
  throw new CliError(
    `The call cannot be sent: ${issue?.path.join('.') ?? 'request'}: ${issue?.message ?? 'not valid'}.`,
    'Correct that; "codelanes exec --help" says what is taken.',
  );
}

/** @throws CliError where none was named and there is more than one. */
export function chosenWorkspace(named: string | undefined, offered: readonly string[]): string {
  if (named !== undefined) return named;
  const [only, ...others] = offered;
  if (only !== undefined && others.length === 0) return only;
  throw new CliError(
    `The worker serves ${offered.join(', ')}, and no workspace was named.`,
    'Say which with --workspace.',
  );
}
