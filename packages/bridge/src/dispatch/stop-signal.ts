import { setMaxListeners } from 'node:events';

/** A signal that every open wait of the bridge listens to: their number is no leak, so Node does not warn. */
export function newStopSignal(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
