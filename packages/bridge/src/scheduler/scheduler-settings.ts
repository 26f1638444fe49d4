import { limits } from '@codelanes/protocol';

/** Clocks of a store, in milliseconds; tests run them in tenths of a second. */
export interface SchedulerSettings {
  /** How long a lease and a worker's registration live after they were last heard of. */
  readonly leaseTtlMs: number;
  /** A reserved call that is not fetched within this returns to its place. */
  readonly fetchWithinMs: number;
  /** How long the place of a call that timed out in the queue is kept for its retry. */
  readonly placeKeptMs: number;
  /** How long a script may be paused and wait to go on; its worker keeps it no longer. */
  readonly pausedMs: number;
  /** How long an ended call is remembered. */
  readonly endRememberedMs: number;
  /** Waiting calls of one worker. */
  readonly queueLength: number;
  /** Of these, waiting calls of one principal. */
  readonly principalQueueLength: number;
}

export const defaultSchedulerSettings: SchedulerSettings = {
  leaseTtlMs: 30_000,
  fetchWithinMs: 2_000,
  placeKeptMs: 3_000,
  pausedMs: limits.pausedScriptMs,
  endRememberedMs: 60_000,
  queueLength: 1_000,
  principalQueueLength: 500,
};
