import { startWorker, type WorkerOptions } from '@codelanes/worker';
import { pino } from 'pino';

/** A real worker, with options that the command line does not offer too; says `ready` once it serves. */
process.once('message', (options: WorkerOptions) => {
  void serve(options);
});

async function serve(options: WorkerOptions): Promise<void> {
  const worker = startWorker(options, pino({ level: 'warn' }, pino.destination(2)));
  process.once('SIGTERM', () => void worker.stop());
  // Whoever measures may be killed; nothing of it is left then.
  process.once('disconnect', () => void worker.stop());
  await worker.ready;
  process.send?.('ready');
  await worker.done;
  if (process.connected) process.disconnect();
}
