import { randomBytes } from 'node:crypto';
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
}

export interface CallListener {
  /** An attempt begins; each one has an id of its own. */
  onAttempt?(callId: string): void;
  onView?(view: CallView): void;
  /** An attempt left the queue without having run; the next one takes its place. */
  onRetry?(refusal: Refusal): void;
}

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
 * Runs a command once. Only a queue time-out, which proves that nothing ran, is followed by the identical
 * request: at once, so that the call keeps its place, until the patience ends.
 *
 * @throws Refusal, LostCall (never run again by itself), NoAnswer (nothing was sent), or an abort's reason.
 */
export async function runCall(
  client: BridgeClient,
  call: PlannedCall,
  listener: CallListener,
  signal: AbortSignal,
): Promise<ExecuteCommandResult> {
  const patienceEndsAt = performance.now() + call.patienceMs;
  for (;;) {
    const leftMs = Math.max(1, Math.round(patienceEndsAt - performance.now()));
    try {
      return await attempt(client, call, Math.min(leftMs, limits.queueDefaultWaitMs), listener, signal);
    } catch (error) {
      const timedOut = error instanceof Refusal && error.code === 'WORKSPACE_QUEUE_TIMEOUT';
      if (!timedOut || performance.now() >= patienceEndsAt) throw error;
      listener.onRetry?.(error);
    }
  }
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
