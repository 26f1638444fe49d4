import { startWorker, type WorkerOptions } from '@codelanes/worker';
import { pino } from 'pino';

/** A worker as a process of its own, with the options of a test. */
process.once('message', (options: WorkerOptions) => {
  void serve(options).catch((error: unknown) => {
    process.send?.({ failed: error instanceof Error ? error.message : String(error) }, () => process.exit(1));
  });
});

async function serve(options: WorkerOptions): Promise<void> {
  const worker = startWorker(options, pino({ level: 'warn' }, pino.destination(2)));
  process.once('SIGTERM', () => void worker.stop());
  await worker.ready;
  process.send?.({ ready: 'worker' });
  await worker.done;
  process.disconnect();
}
