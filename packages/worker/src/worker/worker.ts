import { pino, type Logger } from 'pino';
import { NetworkProcess } from '../network/network-process.js';
import { compileOptions, type WorkerOptions } from './options.js';
import { Serving } from './serving.js';

/** A worker that was started. */
export interface RunningWorker {
  /** Resolves at the first registration; rejects where the worker cannot serve, saying why and what to do. */
  readonly ready: Promise<void>;
  /** Resolves when a stopped worker has ended; rejects when it could not serve or is refused for good. */
  readonly done: Promise<void>;
  /** Drains: takes nothing new, lets running calls end, then stops them. Never quarantines anything by itself. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a worker on its roots: takes their locks, ends what an earlier worker left, tests the sandbox,
 * registers, and serves until it is stopped. Must be called on the main thread of its process, once: it
 * closes every descriptor that the process inherited beyond standard error.
 *
 * `networkHost` is another than the worker's own in tests only.
 *
 * @throws {OptionsError | RootError} at once, for options that cannot be used.
 */
export function startWorker(
  options: WorkerOptions,
  log: Logger = defaultLog(),
  networkHost = new NetworkProcess(),
): RunningWorker {
  const stopped = new AbortController();
  const opening = Serving.open(compileOptions(options), log, networkHost, stopped.signal);
  const ready = opening.then((serving) => serving.registered);
  const done = opening.then((serving) => serving.ended);
  // Whoever waits for one of the two hears of a failure; the other is no fault of the process.
  ready.catch(() => undefined);
  done.catch(() => undefined);
  const stop = async () => {
    // The setup of a root may take minutes.
    stopped.abort();
    const serving = await opening.catch(() => undefined);
    await serving?.stop();
  };
  return { ready, done, stop };
}

function defaultLog(): Logger {
  return pino({ name: 'codelanes-worker' }, pino.destination(2));
}
