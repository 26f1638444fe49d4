import { setTimeout as delay } from 'node:timers/promises';
import type { CallView } from '@codelanes/protocol';
import type { BridgeClient } from '../client/bridge-client.js';
import { hasEnded, watchCall } from '../client/watch-call.js';
import { exitStatus } from '../errors/cli-error.js';

/** How long a person waits to hear that a stopped command is gone. */
const endWithinMs = 10_000;

/**
 * Calls back at the first Ctrl-C (or SIGTERM); a second one ends this process at once.
 *
 * @returns what takes the handlers away again.
 */
export function onInterruption(callback: () => void): () => void {
  let asked = false;
  const handle = () => {
    if (asked) process.exit(exitStatus.cancelled);
    asked = true;
    callback();
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return () => {
    process.off('SIGINT', handle);
    process.off('SIGTERM', handle);
  };
}

/** Sees a call that was given up to its end, and tells what became of it. */
export async function endOfCancelled(
  client: BridgeClient,
  callId: string,
  lastView: CallView | undefined,
): Promise<string> {
  let last = lastView;
  const enough = new AbortController();
  const onView = (view: CallView) => {
    last = view;
  };
  await Promise.race([
    watchCall(client, callId, onView, enough.signal),
    delay(endWithinMs, undefined, enough),
  ]);
  enough.abort();
  return cancelledText(last);
}

export function cancelledText(last: CallView | undefined): string {
  if (last === undefined) return 'Cancelled. Whether anything ran is not known.';
  if (last.state === 'withdrawn') return 'Cancelled; nothing ran.';
  if (hasEnded(last)) return 'Cancelled; the command was stopped. What it had changed stays.';
  return 'Cancelled; the worker was asked to stop the command and has not said yet that it did.';
}
