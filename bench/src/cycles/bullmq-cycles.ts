import { randomBytes } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import type { Cycles } from './cycles.js';

/** Jobs through BullMQ: added, processed, completed. Completed ones are removed, so that its Redis does not grow. */
export class BullmqCycles implements Cycles {
  readonly #queue: Queue;
  readonly #worker: Worker;
  readonly #completed = new Map<string, () => void>();
  #added = 0;

  private constructor(port: number, concurrency: number) {
    const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
    const name = randomBytes(8).toString('hex');
    this.#queue = new Queue(name, { connection });
    this.#worker = new Worker(name, () => Promise.resolve({ exitCode: 0 }), { connection, concurrency });
    this.#worker.on('completed', ({ id = '' }) => {
      this.#completed.get(id)?.();
      this.#completed.delete(id);
    });
  }

  static async open(port: number, concurrency: number): Promise<BullmqCycles> {
    const cycles = new BullmqCycles(port, concurrency);
    await Promise.all([cycles.#queue.waitUntilReady(), cycles.#worker.waitUntilReady()]);
    return cycles;
  }

  async cycle(line: number): Promise<void> {
    this.#added += 1;
    const jobId = `job-${this.#added}`;
    const completed = new Promise<void>((resolve) => {
      this.#completed.set(jobId, resolve);
    });
    await this.#queue.add(
      'run',
      { line, command: 'true' },
      { jobId, removeOnComplete: { age: 60, count: 10_000 } },
    );
    await completed;
  }

  async close(): Promise<void> {
    await this.#worker.close();
    await this.#queue.close();
  }
}
