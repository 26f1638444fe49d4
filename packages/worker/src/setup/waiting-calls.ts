import type { FaultedRecord } from './setup-record.js';

/**
 * The calls that wait for the setups of one repository, for the case that a run could not begin: each of them is told
 * so once. Every other call, and each of them when it comes again, waits for another try.
 */
export class WaitingCalls {
  readonly #waiting = new Map<string, Set<string>>();
  readonly #faults = new Map<string, { readonly record: FaultedRecord; readonly untold: Set<string> }>();

  /** What is to be told to a call that has reached an unready worktree; with nothing to tell it waits from now on. */
  reached(worktree: string, call: string): FaultedRecord | undefined {
    const fault = this.#faults.get(worktree);
    if (fault?.untold.delete(call) === true) return fault.record;
    const waiting = this.#waiting.get(worktree) ?? new Set();
    this.#waiting.set(worktree, waiting.add(call));
    return undefined;
  }

  /** A run could not begin. */
  faulted(worktree: string, record: FaultedRecord): void {
    const untold = new Set([
      ...(this.#faults.get(worktree)?.untold ?? []),
      ...(this.#waiting.get(worktree) ?? []),
    ]);
    this.#waiting.delete(worktree);
    this.#faults.set(worktree, { record, untold });
  }

  /** A run has come to an end of its own: whoever waited finds that. */
  ended(worktree: string): void {
    this.#waiting.delete(worktree);
    this.#faults.delete(worktree);
  }
}
