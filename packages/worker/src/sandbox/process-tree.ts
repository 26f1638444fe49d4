import { readFileSync, readdirSync } from 'node:fs';
import { hostProcesses, waitUntilGone, type ProcessIdentity } from '../lanes/processes.js';

/**
 * Every live descendant of a process, as of now, parents before their children. Of a namespace's init these are all its
 * other members.
 */
export function descendantsOf(
  pid: number,
  childrenIn: (pid: number) => readonly number[] = childrenOf,
): number[] {
  const members = [pid];
  // Whoever starts the processes chooses how deep they stand: no call of a function may stand for a level.
  for (const member of members) for (const child of childrenIn(member)) members.push(child);
  return members.slice(1);
}

export interface EndOptions {
  /** The namespace's first process. */
  readonly init: ProcessIdentity;
  /** Kills the namespace as a whole. */
  readonly kill: () => void;
  /** Time that the processes have to leave by themselves after TERM, in milliseconds. */
  readonly graceMs: number;
  /** Longest wait for a killed namespace, in milliseconds; after that nobody can say that it is gone. */
  readonly goneWithinMs?: number | undefined;
}

const defaultGoneWithinMs = 10_000;

/**
 * Ends a sandbox: TERM to the processes inside, the grace, then the namespace is killed, which leaves no
 * process born meanwhile. `false` when it could not be shown to be gone.
 */
export async function endSandbox({ init, kill, graceMs, goneWithinMs }: EndOptions): Promise<boolean> {
  if (graceMs > 0 && !hostProcesses.isGone(init)) {
    for (const pid of descendantsOf(init.pid)) terminate(pid);
    if (await waitUntilGone(hostProcesses, init, { timeoutMs: graceMs, intervalMs: 5 })) return true;
  }
  kill();
  return untilGone(init, goneWithinMs);
}

/** Waits until every process of an ended sandbox is gone; `false` when that could not be shown. */
export function untilGone(
  init: ProcessIdentity,
  goneWithinMs: number = defaultGoneWithinMs,
): Promise<boolean> {
  return waitUntilGone(hostProcesses, init, { timeoutMs: goneWithinMs, intervalMs: 1 });
}

function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has left by itself.
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}
