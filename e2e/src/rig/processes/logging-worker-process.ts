import { LoggingWorker, type LoggingWorkerOptions } from '../logging-worker.js';

/** A worker that runs nothing of value and logs what it runs, over the connection of the real one. */
process.once('message', (options: LoggingWorkerOptions) => {
  const worker = new LoggingWorker(options, () => process.send?.({ ready: options.workerId }));
  process.once('SIGTERM', () => {
    worker.close();
    process.disconnect();
  });
});
