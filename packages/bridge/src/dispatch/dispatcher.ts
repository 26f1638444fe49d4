import type { CallState, WorkspaceToolResult } from '@codelanes/protocol';
import { CodelanesError, limits } from '@codelanes/protocol';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallEnd, Follower, PausedCall, SchedulerStore, WithdrawReason } from '../scheduler/store.js';
import type { NewCall, NewToolCall } from '../scheduler/stored-call.js';
import { Bell } from './bell.js';
import { bridgeStopping, forgotten, sentAway } from './never-started.js';
import { callerGone, outcomeUnknown, resultOf } from './outcome.js';
import { QueueTimeout } from './queue-timeout.js';
import { recheckMs } from './recheck.js';
import type { RevokedWorkers } from './revoked-workers.js';
import { refusalError } from './worker-changed.js';
import { newStopSignal } from './stop-signal.js';

export interface DispatchSettings {
  readonly leaseTtlMs: number;
  /** Time that a worker has to settle after the execution budget and a lease have both run out. */
  readonly settlementGraceMs: number;
}

export interface Patience {
  /** Time that the call may wait in the queue; running has a budget of its own. */
  readonly queueWaitMs: number;
  /** Aborts when nobody waits for the answer any more. */
  readonly callerGone: AbortSignal;
}

/** What becomes of a script: its end, or that it waits for tools. */
export type ScriptEnd = CallEnd | { readonly how: 'paused'; readonly pause: PausedCall };

/** A call as it is seen through. */
interface Attended extends Pick<NewCall, 'callId' | 'workerId' | 'lane' | 'executionMs'> {
  /**
   * The tool calls whose results it goes on with, where it ran before: the queue is no place that it could leave as one
   * that never did.
   */
  readonly answered?: readonly string[] | undefined;
}

/** How a call is seen through. */
interface Attendance {
  readonly call: Attended;
  readonly patience: Patience;
  readonly queueEndsAt: number;
  readonly bell: Bell;
  readonly follower: Follower;
}

/** Sees synchronous calls through: enters them, waits for their end, and takes back what is no longer wanted. */
export class Dispatcher {
  readonly #store: SchedulerStore;
  readonly #settings: DispatchSettings;
  readonly #revoked: Pick<RevokedWorkers, 'signalOf'>;
  readonly #stopping = newStopSignal();
  readonly #abandoning = newStopSignal();
  readonly #attended = new Set<Promise<void>>();

  constructor(store: SchedulerStore, settings: DispatchSettings, revoked: Pick<RevokedWorkers, 'signalOf'>) {
    this.#revoked = revoked;
    this.#store = store;
    this.#settings = settings;
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /**
   * Resolves with the worker's result. A call that waits longer than its patience leaves the queue and never
   * ran; one that was handed to the worker is waited for beyond that, until the worker answers or cannot any
   * more. When the caller goes away, or the worker is revoked, the call is taken back or, once delivered, cancelled. A
   * store that cannot be reached meanwhile is waited for as long as the call is.
   *
   * @throws CodelanesError as the store refuses it, `WORKSPACE_QUEUE_TIMEOUT` (a `QueueTimeout`), a
   * `NeverStarted`, `WORKER_OFFLINE`, or as `resultOf` says.
   */
  async run(call: NewToolCall, patience: Patience): Promise<WorkspaceToolResult> {
    const end = await this.runScript(call, patience);
    if (end.how === 'paused') throw new Error(`The tool call ${call.callId} was paused.`);
    return resultOf(call, end);
  }

  /** Resolves with the first pause of a script, or with its end; for the rest as `run`, which judges the end. */
  runScript(call: NewCall, patience: Patience): Promise<ScriptEnd> {
    const { callId, workerId, lane, executionMs } = call;
    const attended = { callId, workerId, lane, executionMs };
    return this.#see(attended, patience, async () => {
      const submitted = await this.#store.submit(call);
      if (!submitted.ok) throw refusalError(submitted);
    });
  }

  /**
   * Resolves with the next pause or the end of a script that `enter` lets go on, with the results of those tool calls. It
   * is cancelled with its caller. Where `enter` loses the store, the script may go on, so that it is seen through.
   */
  resumeScript(
    call: Pick<NewCall, 'callId' | 'workerId' | 'lane'> & { readonly answered: readonly string[] },
    enter: () => Promise<void>,
    callerGone: AbortSignal,
  ): Promise<ScriptEnd> {
    const attended = {
      ...call,
      executionMs: limits.pausedScriptMs + limits.programmaticTimeoutMs,
    };
    return this.#see(attended, { queueWaitMs: limits.queueWaitMs, callerGone }, enter);
  }

  /**
   * Refuses new calls and takes back those that wait, gives running ones that many milliseconds to end, then
   * cancels what is left. Resolves when every call has its answer.
   */
  async stop(drainMs: number): Promise<void> {
    this.#stopping.abort();
    const timer = setTimeout(() => {
      this.#abandoning.abort();
    }, drainMs);
    await Promise.all([...this.#attended]);
    clearTimeout(timer);
  }

  #see(call: Attended, patience: Patience, enter: () => Promise<void>): Promise<ScriptEnd> {
    const attended = this.#enterAndAttend(call, patience, enter);
    const ended: Promise<void> = attended.then(noop, noop).then(() => {
      this.#attended.delete(ended);
    });
    this.#attended.add(ended);
    return attended;
  }

  async #enterAndAttend(call: Attended, patience: Patience, enter: () => Promise<void>): Promise<ScriptEnd> {
    if (this.#stopping.signal.aborted) throw this.#notEntered(call);
    const queueEndsAt = performance.now() + patience.queueWaitMs;
    const bell = new Bell();
    const follower = this.#store.follow(call.callId, call.workerId, bell.ring);
    try {
      await enter().catch((error: unknown) => {
        // A script may go on all the same: whoever sent it once more would run what it did before twice.
        if (call.answered === undefined || !isOutage(error)) throw error;
      });
      return await this.#attendUntilOver({ call, patience, queueEndsAt, bell, follower });
    } finally {
      follower.stop();
    }
  }

  /** A script that has half run does not go on here any more; it is ended, so that it does not wait for nothing. */
  #notEntered({ callId, answered }: Attended): CodelanesError {
    if (answered === undefined) return bridgeStopping();
    void this.#cancelOnceReached(callId);
    return outcomeUnknown('its script had run, and the bridge was stopping when it was to go on.');
  }

  async #attendUntilOver(attendance: Attendance): Promise<ScriptEnd> {
    const { call, patience, bell } = attendance;
    const signals = [
      patience.callerGone,
      this.#stopping.signal,
      this.#abandoning.signal,
      this.#revoked.signalOf(call.workerId),
    ];
    const unsubscribe = signals.map((signal) => bell.ringOnAbort(signal));
    try {
      const end = await this.#attend(attendance);
      if (end.how === 'withdrawn' && end.why === 'caller_gone' && !patience.callerGone.aborted) {
        throw forgotten();
      }
      return end;
    } finally {
      for (const end of unsubscribe) end();
    }
  }

  async #attend({ call, patience, queueEndsAt, bell, follower }: Attendance): Promise<ScriptEnd> {
    let answerDueAt: number | undefined;
    for (;;) {
      try {
        const progress = await follower.progress();
        if (progress === undefined) throw outcomeUnknown('the bridge has no record of the call any more.');
        if (progress.how !== 'open') return progress;
        const pause = progress.state === 'paused' ? await this.#pauseOf(call, patience) : undefined;
        if (pause !== undefined) return { how: 'paused', pause };
        if (waits(progress.state) && call.answered === undefined) {
          answerDueAt = undefined;
          const why = this.#whyLeave(call, patience, queueEndsAt);
          if (why !== undefined) await this.#leave(call, why);
        } else {
          answerDueAt ??= performance.now() + this.#answerWithinMs(call);
          await this.#giveUpIfDue(call, patience, answerDueAt);
        }
      } catch (error) {
        if (!isOutage(error)) throw error;
        // Nobody can say whether the call has started meanwhile, so it is not refused as one that has not.
        this.#giveUpOnStore(call, patience, answerDueAt ?? queueEndsAt);
      }
      const nextDueAt = answerDueAt ?? queueEndsAt;
      await bell.wait(msUntilLook(nextDueAt));
    }
  }

  /**
   * @throws where nobody is left to whom it could be told, or the store has lost that the script went on: told the same
   * pause once more, a caller would run its tools twice. The script is cancelled then.
   */
  async #pauseOf(
    { callId, answered = [] }: Attended,
    { callerGone: gone }: Patience,
  ): Promise<PausedCall | undefined> {
    const pause = gone.aborted ? undefined : await this.#store.paused(callId);
    const isKnown = pause?.toolCalls.some(({ id }) => answered.includes(id)) === true;
    if (!gone.aborted && !isKnown) return pause;
    await this.#store.cancel(callId);
    throw isKnown ? outcomeUnknown('the bridge’s store lost that the script went on.') : callerGone();
  }

  #whyLeave(call: Attended, patience: Patience, queueEndsAt: number): WithdrawReason | undefined {
    if (patience.callerGone.aborted) return 'caller_gone';
    if (this.#stopping.signal.aborted || this.#isRevoked(call)) return 'cancelled';
    return performance.now() >= queueEndsAt ? 'deadline' : undefined;
  }

  /** @throws where the call left the queue; returns where it was delivered meanwhile and is to be waited for. */
  async #leave(call: Attended, why: WithdrawReason): Promise<void> {
    const left = await this.#store.withdraw(call.callId, why);
    if (!left.withdrawn) return;
    switch (why) {
      case 'deadline':
        throw new QueueTimeout(call.lane, Math.round(left.waitedMs), left.waitedFor);
      case 'cancelled':
        throw this.isStopping ? bridgeStopping() : sentAway();
      case 'caller_gone':
        throw callerGone();
    }
  }

  /** @throws where the worker's answer is not waited for any longer; the call is cancelled then. */
  async #giveUpIfDue(call: Attended, patience: Patience, answerDueAt: number): Promise<void> {
    const why = this.#whyGiveUp(call, patience, answerDueAt);
    if (why === undefined) return;
    await this.#store.cancel(call.callId);
    throw why;
  }

  /** @throws where a store that cannot be reached is not waited for any longer; the call is cancelled once it can. */
  #giveUpOnStore(call: Attended, patience: Patience, dueAt: number): void {
    const isPast = performance.now() >= dueAt + this.#settings.settlementGraceMs;
    if (!isPast && !patience.callerGone.aborted && !this.isStopping) return;
    void this.#cancelOnceReached(call.callId);
    throw outcomeUnknown('the bridge lost its store while the call waited or ran.');
  }

  async #cancelOnceReached(callId: string): Promise<void> {
    while (!this.#abandoning.signal.aborted) {
      const isOver = await this.#store.cancel(callId).then(
        () => true,
        (error: unknown) => !isOutage(error),
      );
      if (isOver) return;
      await sleep(recheckMs, undefined, { ref: false });
    }
  }

  #whyGiveUp(call: Attended, patience: Patience, answerDueAt: number): CodelanesError | undefined {
    if (patience.callerGone.aborted) return callerGone();
    if (this.#isRevoked(call)) return outcomeUnknown('its worker was revoked while it ran, and is stopped.');
    if (this.#abandoning.signal.aborted) return outcomeUnknown('the bridge stopped while it ran.');
    if (performance.now() < answerDueAt) return undefined;
    return outcomeUnknown('the worker kept its lease but did not answer in time.');
  }

  #isRevoked({ workerId }: Attended): boolean {
    return this.#revoked.signalOf(workerId).aborted;
  }

  #answerWithinMs({ executionMs }: Attended): number {
    return executionMs + this.#settings.leaseTtlMs + this.#settings.settlementGraceMs;
  }
}

function noop(): void {
  // How a call ended is its caller's matter; a stopping bridge only waits until it has.
}

function waits(state: CallState): boolean {
  return state === 'waiting' || state === 'reserved';
}

function msUntilLook(dueAt: number): number {
  // A due time that has passed was acted upon; only a change or the net wakes from here.
  const ms = Math.ceil(dueAt - performance.now());
  return ms > 0 ? Math.min(ms, recheckMs) : recheckMs;
}

function isOutage(error: unknown): boolean {
  return CodelanesError.is(error) && error.code === 'STORE_UNAVAILABLE';
}
