import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { CallView, ExecuteCommandRequest, ExecuteCommandResult } from '@codelanes/protocol';
import { limits } from '@codelanes/protocol';
import { CliError } from '../errors/cli-error.js';
import type { BridgeClient } from './bridge-client.js';
import { NoAnswer, Refusal } from './failures.js';
import { watchCall } from './watch-call.js';

/** A command and the patience of who asked for it. */
export interface PlannedCall {
  readonly workerId: string;
  readonly request: ExecuteCommandRequest;
  /** How long it may wait in the queue, over all attempts. */
  readonly patienceMs: number;
  /** How long one attempt waits at most. */
  readonly attemptMs?: number;
  /** How long a bridge or worker that is being started again is waited for: 5 s by default. */
  readonly comebackMs?: number;
}

export interface CallListener {
  /** An attempt begins; each one has an id of its own. */
  onAttempt?(callId: string): void;
  onView?(view: CallView): void;
  /** An attempt left the queue without having run; the next one takes its place. */
  onRetry?(refusal: Refusal): void;
  /** Nothing could be asked yet, so nothing ran; it is tried a little longer. Told once. */
  onUnavailable?(failure: NoAnswer | Refusal): void;
}

const usualComebackMs = 5_000;
/** How often a bridge or worker that is being started again is asked. */
const comebackPauseMs = 200;

/** Where the bridge does not say when to send a call again that came too soon. */
const rateLimitPauseMs = 1_000;

/** The bridge went away before it answered; what was last seen of the call is all that is known. */
export class LostCall extends Error {
  override readonly name = 'LostCall';
  readonly lastSeen: CallView | undefined;

  constructor(cause: NoAnswer, lastSeen: CallView | undefined) {
    super(cause.message, { cause });
    this.lastSeen = lastSeen;
  }
}

/**
 * Runs a command once. Only what proves that nothing ran is followed by the identical request: a queue
 * time-out at once, so that the call keeps its place, until the patience ends; a bridge or worker that is not
 * there for a few seconds, as one that died is started again in less.
 *
 * @throws Refusal, LostCall (never run again by itself), NoAnswer (nothing was sent), or an abort's reason.
 */
export async function runCall(
  client: BridgeClient,
  call: PlannedCall,
  listener: CallListener,
  signal: AbortSignal,
): Promise<ExecuteCommandResult> {
  const { attemptMs = limits.queueWaitMs, comebackMs = usualComebackMs } = call;
  const beganAt = performance.now();
  const patienceEndsAt = beganAt + call.patienceMs;
  const comebackEndsAt = beganAt + Math.min(call.patienceMs, comebackMs);
  let isTold = false;
  for (;;) {
    const leftMs = Math.max(1, Math.round(patienceEndsAt - performance.now()));
    try {
      return await attempt(client, call, Math.min(leftMs, attemptMs), listener, signal);
    } catch (error) {
      if (isQueueTimeout(error) && performance.now() < patienceEndsAt) {
        listener.onRetry?.(error);
      } else if (isRateLimited(error) && performance.now() + retryPauseMs(error) < patienceEndsAt) {
        listener.onRetry?.(error);
        await delay(retryPauseMs(error), undefined, { signal });
      } else if (isUnavailable(error) && performance.now() < comebackEndsAt) {
        if (!isTold) listener.onUnavailable?.(error);
        isTold = true;
        await delay(comebackPauseMs, undefined, { signal });
      } else {
        throw error;
      }
    }
  }
}

function isQueueTimeout(error: unknown): error is Refusal {
  return error instanceof Refusal && error.code === 'WORKSPACE_QUEUE_TIMEOUT';
}

function isRateLimited(error: unknown): error is Refusal {
  return error instanceof Refusal && error.code === 'RATE_LIMITED';
}

function retryPauseMs({ retryAfterMs }: Refusal): number {
  return retryAfterMs ?? rateLimitPauseMs;
}

function isUnavailable(error: unknown): error is NoAnswer | Refusal {
  if (error instanceof NoAnswer) return !error.mayHaveArrived;
  return error instanceof Refusal && (error.code === 'WORKER_OFFLINE' || error.code === 'BRIDGE_STOPPING');
}

async function attempt(
  client: BridgeClient,
  { workerId, request }: PlannedCall,
  queueWaitMs: number,
  listener: CallListener,
  signal: AbortSignal,
): Promise<ExecuteCommandResult> {
  const callId = randomBytes(16).toString('hex');
  listener.onAttempt?.(callId);
  let lastSeen: CallView | undefined;
  const answered = new AbortController();
  const watch = watchCall(
    client,
    callId,
    (view) => {
      lastSeen = view;
      listener.onView?.(view);
    },
    AbortSignal.any([signal, answered.signal]),
  );
  try {
    const result = await client.execute(request, { workerId, callId, queueWaitMs, signal });
    if (result.operation === 'execute_command') return result;
    throw new CliError(
      `The bridge answered a command with the result of ${result.operation}.`,
      'Use a bridge and a command line of the same version.',
    );
  } catch (error) {
    if (error instanceof NoAnswer && error.mayHaveArrived) throw new LostCall(error, lastSeen);
    throw error;
  } finally {
    answered.abort();
    await watch;
  }
}
