import type { Capabilities } from '@codelanes/protocol';
import { CodelanesError, workerIdHeader } from '@codelanes/protocol';
import type { RouteContext } from './context.js';
import { malformed } from './parse.js';

/**
 * The worker that a call is for: the one it names, else the only one there is.
 *
 * @throws CodelanesError `WORKER_OFFLINE` where there is none, `MALFORMED_REQUEST` where there are several.
 */
export async function chosenWorker({ store }: RouteContext, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const [only, ...others] = await store.workers();
  if (only === undefined) {
    throw new CodelanesError('WORKER_OFFLINE', 'No worker has registered with this bridge yet.');
  }
  if (others.length === 0) return only;
  throw malformed(`header ${workerIdHeader}: expected the id of a worker, as this bridge has more than one`);
}

/** What a worker advertises. @throws CodelanesError `WORKER_OFFLINE` where it never registered. */
export async function capabilitiesOf({ store }: RouteContext, workerId: string): Promise<Capabilities> {
  const worker = await store.worker(workerId);
  if (worker !== undefined) return worker.capabilities;
  throw new CodelanesError('WORKER_OFFLINE', `No worker "${workerId}" has registered with this bridge.`);
}
