import { limits, type WorkspaceToolRequest } from '@codelanes/protocol';
import { WorkspaceToolHttpError } from './workspace-tool-http-error.js';

const fileToolMs = 30_000;
const settlementMs = 5_000;
const transportMs = 5_000;
/** What one attempt may wait in the queue, where the caller bounds nothing. */
const admissionMs = 30_000;

export interface BudgetOptions {
  readonly maxRequestTimeoutMs?: number | undefined;
  readonly deadlineAtMs?: number | undefined;
}

/** One attempt: how long it may take in all, and how much of that the call may wait in the queue. */
export interface Attempt {
  readonly timeoutMs: number;
  readonly queueWaitMs: number;
}

/**
 * The time of one call over all of its attempts. Whatever an attempt waits, what the call needs to run and to be
 * answered stays reserved: 30 s for a file tool, for a command its time-out and 5 s, and 5 s for the way.
 */
export class TimeBudget {
  /** For running and answering. */
  readonly #reservedMs: number;
  readonly #attemptMs: number;
  readonly #deadlineAt: number;

  constructor(request: WorkspaceToolRequest, { maxRequestTimeoutMs, deadlineAtMs }: BudgetOptions) {
    this.#reservedMs = runMsOf(request) + transportMs;
    this.#attemptMs = maxRequestTimeoutMs ?? admissionMs + this.#reservedMs;
    this.#deadlineAt = Math.min(
      deadlineAtMs ?? Infinity,
      maxRequestTimeoutMs === undefined ? Infinity : Date.now() + maxRequestTimeoutMs,
    );
  }

  /** When an attempt that begins could no longer end in time. */
  get lastBeginAt(): number {
    return this.#deadlineAt - this.#reservedMs;
  }

  /**
   * The next attempt, as from now.
   *
   * @throws WorkspaceToolHttpError `insufficient_time`
   */
  attempt(): Attempt {
    const timeoutMs = Math.floor(Math.min(this.#attemptMs, this.#deadlineAt - Date.now()));
    const queueWaitMs = Math.min(limits.queueWaitMs, timeoutMs - this.#reservedMs);
    if (queueWaitMs < 1) throw new WorkspaceToolHttpError('insufficient_time');
    return { timeoutMs, queueWaitMs };
  }
}

function runMsOf(request: WorkspaceToolRequest): number {
  return request.operation === 'execute_command'
    ? (request.timeoutMs ?? limits.commandDefaultTimeoutMs) + settlementMs
    : fileToolMs;
}
