import { parentPort } from 'node:worker_threads';
import type { ConnectionOptions, ToConnection } from './messages.js';
import { Session } from './session.js';

/** The connection's thread: its first message is the options, the others are the session's. */
const port = parentPort;
if (port === null) throw new Error('This module runs as a worker thread only.');

port.once('message', (options: ConnectionOptions) => {
  const session = new Session(options, (message) => {
    port.postMessage(message);
  });
  port.on('message', (message: ToConnection) => {
    session.accept(message);
  });
  void session.run();
});
