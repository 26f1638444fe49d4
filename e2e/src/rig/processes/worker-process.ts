import { startWorker, type WorkerOptions } from '@codelanes/worker';
import { NetworkProcess } from '@codelanes/worker/network-process';
import { pino } from 'pino';

/** A worker as a process of its own, with the options of a test. */
process.once('message', (options: WorkerOptions) => {
  void serve(options).catch((error: unknown) => {
    process.send?.({ failed: error instanceof Error ? error.message : String(error) }, () => process.exit(1));
  });
});

async function serve(options: WorkerOptions): Promise<void> {
  // Names and addresses as the tests need them: a worker's own proxy would refuse their servers on loopback.
  const networkHost = new NetworkProcess(new URL('./proxies-process.js', import.meta.url));
  const worker = startWorker(options, pino({ level: 'warn' }, pino.destination(2)), networkHost);
  process.once('SIGTERM', () => void worker.stop());
  await worker.ready;
  process.send?.({ ready: 'worker' });
  await worker.done;
  process.disconnect();
}
