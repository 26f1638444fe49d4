import { callOperationSchema, operationKinds, type CallOperation } from '@codelanes/protocol';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { CallTiming, Loss, WorkerLoad } from '../scheduler/store.js';

/** Seconds, from what is felt to the longest that a call may wait or run. */
const waitBuckets = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Setups may run for an hour. */
const runBuckets = [...waitBuckets, 600, 1800, 3600];
/** Seconds; a few milliseconds are the aim. */
const overheadBuckets = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.5, 2];

/** A script that goes on is counted as what it was asked for as. */
const countedOperations = callOperationSchema.options.filter((operation) => operation !== 'resume_script');

function labelOf(operation: CallOperation | undefined): string {
  return operation ?? 'unknown';
}

/**
 * What one bridge counts, for Prometheus. Labels are operations, workers and pools: never a path, a content, a
 * principal or the id of a call. Each bridge has a registry of its own.
 */
export class BridgeMetrics {
  readonly #registry = new Registry();
  readonly #queue = this.#histogram(
    'codelanes_queue_seconds',
    'Time from the submission of a call until the rule started it',
    waitBuckets,
  );
  readonly #run = this.#histogram('codelanes_run_seconds', 'Time that a call ran at its worker', runBuckets);
  readonly #overhead = this.#histogram(
    'codelanes_overhead_seconds',
    'Time of a call that was neither waiting for its turn nor running',
    overheadBuckets,
  );
  readonly #timeouts = this.#counter(
    'codelanes_queue_timeouts_total',
    'Calls that left the queue at their deadline and never ran',
  );
  readonly #leaseLosses = this.#counter(
    'codelanes_lease_losses_total',
    'Calls whose lease ended before their worker had answered: their outcome is unknown',
  );
  readonly #rateLimited = new Counter({
    name: 'codelanes_rate_limited_total',
    help: 'Calls that were refused because their caller sent too many',
    registers: [this.#registry],
  });
  readonly #running = new Gauge({
    name: 'codelanes_running_calls',
    help: 'Calls that take a slot or a place of the file pool, as the store has them',
    labelNames: ['worker', 'pool', 'operation'],
    registers: [this.#registry],
  });
  readonly #waiting = new Gauge({
    name: 'codelanes_waiting_calls',
    help: 'Calls in the queue of a worker, as the store has it',
    labelNames: ['worker', 'operation'],
    registers: [this.#registry],
  });

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** A call was settled at this bridge; `lastRanMs` is what its worker measured, where it did. */
  settled({ operation, queuedMs, totalMs, wasPaused }: CallTiming, lastRanMs: number | undefined): void {
    const inHandsMs = totalMs - queuedMs;
    // Of several stretches the worker measured the last, and the store has the sum.
    const ranMs = wasPaused ? undefined : lastRanMs;
    this.#queue.observe({ operation }, queuedMs / 1000);
    this.#run.observe({ operation }, (ranMs ?? inHandsMs) / 1000);
    if (ranMs !== undefined) this.#overhead.observe({ operation }, Math.max(0, inHandsMs - ranMs) / 1000);
  }

  lost({ how, operation }: Loss): void {
    const counter = how === 'queue_timeout' ? this.#timeouts : this.#leaseLosses;
    counter.inc({ operation: labelOf(operation) });
  }

  rateLimited(): void {
    this.#rateLimited.inc();
  }

  /** Everything in the text format of Prometheus, with the loads of the workers as they are now. */
  text(loads: ReadonlyMap<string, WorkerLoad>): Promise<string> {
    this.#running.reset();
    this.#waiting.reset();
    for (const [worker, { running, waiting }] of loads) {
      this.#setNone(worker);
      for (const { pool, operation, calls } of running) {
        this.#running.set({ worker, pool, operation: labelOf(operation) }, calls);
      }
      for (const { operation, calls } of waiting) {
        this.#waiting.set({ worker, operation: labelOf(operation) }, calls);
      }
    }
    return this.#registry.metrics();
  }

  /** A series that is not there where there is nothing would be a gap in every graph. */
  #setNone(worker: string): void {
    for (const operation of countedOperations) {
      this.#running.set({ worker, pool: operationKinds[operation].pool, operation }, 0);
      this.#waiting.set({ worker, operation }, 0);
    }
  }

  #histogram(name: string, help: string, buckets: number[]): Histogram<'operation'> {
    return new Histogram({ name, help, buckets, labelNames: ['operation'], registers: [this.#registry] });
  }

  #counter(name: string, help: string): Counter<'operation'> {
    return new Counter({ name, help, labelNames: ['operation'], registers: [this.#registry] });
  }
}
