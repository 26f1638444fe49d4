import { Worker } from 'node:worker_threads';
import type { ConnectionOptions, FromConnection, ToConnection } from './messages.js';

/** The main thread's end of the connection. */
export interface Connection {
  send(message: ToConnection): void;
  /** Ends the thread at once; what was not said stays unsaid. */
  terminate(): Promise<void>;
}

/**
 * Starts the connection in a thread of its own: registration, the open poll, the lease clock and the kill at
 * a lease's end go on there while the main thread works. A fault of the thread is handed to `onFault`.
 */
export function connect(
  options: ConnectionOptions,
  onMessage: (message: FromConnection) => void,
  onFault: (error: Error) => void,
): Connection {
  const thread = new Worker(new URL('./thread.js', import.meta.url), {
    // A profiler or loader flag of the main thread is none of this thread's.
    execArgv: [],
  });
  thread.postMessage(options);
  thread.on('message', onMessage);
  thread.on('error', onFault);
  return {
    send: (message) => {
      thread.postMessage(message);
    },
    terminate: async () => {
      await thread.terminate();
    },
  };
}
