import type { ExecuteCommandRequest } from '@codelanes/protocol';
import { limits, protocolVersion, workspaceToolRequestSchema } from '@codelanes/protocol';
import { CliError } from '../errors/cli-error.js';
import { shellLine } from './shell-line.js';

export interface CommandFlags {
  readonly repository?: string | undefined;
  readonly worktree?: string | undefined;
  readonly cwd?: string | undefined;
  readonly timeout?: number | undefined;
  /** Runs the command of the definition in place of words. */
  readonly action?: ExecuteCommandRequest['environmentAction'];
}

/**
 * The request that runs the words of a command line, or an action, in a lane.
 *
 * @throws CliError naming what the protocol does not take.
 */
export function requestOf(
  workspaceId: string,
  words: readonly string[],
  { repository, worktree, cwd, timeout, action }: CommandFlags,
): ExecuteCommandRequest {
  const parsed = workspaceToolRequestSchema.safeParse({
    protocolVersion,
    operation: 'execute_command',
    workspaceId,
    // The worker has the command of an action; the protocol wants some text.
    command: action?.name ?? shellLine(words),
    // A terminal has room for more than the context of a model, for which the default is meant.
    maxOutputBytes: limits.commandOutputBytes,
    ...(repository !== undefined && { repository }),
    ...(worktree !== undefined && { worktree }),
    ...(cwd !== undefined && { cwd }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(action !== undefined && { environmentAction: action }),
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
