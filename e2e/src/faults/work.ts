import type { Random } from './random.js';

/** What one caller wants done; it is sent as often as it takes, each time as a call of its own. */
export interface Work {
  readonly workerId: string;
  /** Index of the caller's token. */
  readonly caller: number;
  readonly isDurable: boolean;
  /** Its caller proposes no id for the call: the bridge finds one. Of durable work only, which is told of it. */
  readonly isUnnamed?: boolean | undefined;
  readonly queueWaitMs: number;
  readonly request: Readonly<Record<string, unknown>> & { readonly operation: string };
}

export interface WorkTerms {
  readonly workerId: string;
  readonly lanesPerWorker: number;
  readonly callers: number;
}

/** Mostly cheap calls in worktrees, some commands, and now and then a call that needs the whole checkout. */
export function someWork(random: Random, { workerId, lanesPerWorker, callers }: WorkTerms): Work {
  const isDurable = random.chance(0.2);
  return {
    workerId,
    caller: random.between(0, callers - 1),
    isDurable,
    isUnnamed: isDurable && random.chance(0.5),
    queueWaitMs: random.chance(0.1) ? 300 : 20_000,
    request: {
      protocolVersion: 1,
      workspaceId: 'primary',
      ...laneOf(random, lanesPerWorker),
      ...tool(random),
    },
  };
}

/** The checkout is a lane like the others, of which a worktree is another. */
function laneOf(random: Random, lanes: number): { worktree?: string } {
  return random.chance(0.03) ? {} : { worktree: `lane-${random.between(1, lanes - 1)}` };
}

function tool(random: Random): { readonly operation: string } & Readonly<Record<string, unknown>> {
  const kind = random.next();
  if (kind < 0.5) return { operation: 'write_file', path: 'file', content: String(random.between(1, 30)) };
  if (kind < 0.85) return { operation: 'read_file', path: 'file', startLine: random.between(1, 30) };
  return { operation: 'execute_command', command: `sleep ${random.between(5, 150) / 1000}` };
}
