import { setTimeout as delay } from 'node:timers/promises';
import type { CallView } from '@codelanes/protocol';
import { CodelanesError } from '@codelanes/protocol';
import type { BridgeClient } from './bridge-client.js';

/** The call and its watch travel side by side, so the bridge may hear of the watch first. */
const untilKnownMs = 25;

export function hasEnded({ state }: CallView): boolean {
  return state === 'settled' || state === 'withdrawn' || state === 'interrupted';
}

/**
 * Tells every state of an own call that the bridge tells, and each time that something else stands in its way, until it has ended, is forgotten, or the signal
 * aborts. A failed look ends the watch in silence: the call itself brings the answer.
 */
export async function watchCall(
  client: BridgeClient,
  callId: string,
  onView: (view: CallView) => void,
  signal: AbortSignal,
): Promise<void> {
  let seen: CallView | undefined;
  while (!signal.aborted) {
    try {
      const view = await client.call(callId, seen, signal);
      if (view.revision !== seen?.revision || view.mark !== seen.mark) onView(view);
      if (hasEnded(view)) return;
      seen = view;
    } catch (error) {
      const isUnknown = CodelanesError.is(error) && error.code === 'CALL_NOT_FOUND';
      if (!isUnknown || seen !== undefined) return;
      await delay(untilKnownMs);
    }
  }
}
