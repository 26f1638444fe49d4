import { CodelanesError } from '@codelanes/protocol';

/**
 * A call that left the queue before it started, through no doing of its caller: the same work may be sent again at
 * once. LibreChat is told so in the one form in which it repeats a call.
 */
export class NeverStarted extends CodelanesError {}

export function bridgeStopping(): CodelanesError {
  return new NeverStarted('BRIDGE_STOPPING', 'The bridge is stopping; the call did not start.');
}

/** The store took this bridge for dead. */
export function forgotten(): CodelanesError {
  return new NeverStarted(
    'STORE_UNAVAILABLE',
    'The call left the queue and did not start: its bridge had lost its store for too long.',
  );
}

/** Not repeated by LibreChat: the worker does not come back by itself. */
export function sentAway(): CodelanesError {
  return new CodelanesError('WORKER_OFFLINE', 'The worker of the call was revoked; the call did not start.');
}
