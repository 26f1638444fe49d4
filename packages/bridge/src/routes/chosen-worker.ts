import type { Capabilities } from '@codelanes/protocol';
import { CodelanesError, workerIdHeader } from '@codelanes/protocol';
import type { FastifyRequest } from 'fastify';
import type { Identity } from '../auth/identity.js';
import { mayUse } from '../auth/worker-access.js';
import type { Sight } from '../dispatch/worker-sights.js';
import type { WorkerView } from '../scheduler/store.js';
import type { Grounds } from '../scheduler/stored-call.js';
import { identityOf } from './admission.js';
import type { RouteContext } from './context.js';
import { malformed } from './parse.js';

/** A worker and what it advertises, as the store has to find it when a call of it is entered. */
export interface ChosenWorker {
  readonly workerId: string;
  readonly capabilities: Capabilities;
  readonly grounds: Grounds | undefined;
}

/** What a route makes of a request, and how that is entered. */
interface Entering<C, T> {
  /** The worker that the request names. */
  readonly named: string | undefined;
  /** Done anew where the worker has changed before the call was entered. */
  readonly make: (worker: ChosenWorker) => C;
  readonly enter: (call: C) => Promise<T>;
}

/**
 * Enters a call at the worker that it is for: the one that its header names, else the one that its token names, else
 * the only one that its caller may use. One that the caller may not use is answered as one that never was.
 *
 * @throws CodelanesError `WORKER_UNAUTHORIZED` where a signed token does not name the worker that the header names;
 * `WORKER_OFFLINE` where there is none; `MALFORMED_REQUEST` where there are several; as `make` and `enter` do.
 */
export async function enterAtChosenWorker<C, T>(
  context: RouteContext,
  request: FastifyRequest,
  { named, make, enter }: Entering<C, T>,
): Promise<T> {
  const identity = identityOf(request);
  const workerId = namedWorker(identity, named) ?? (await onlyWorker(context, identity));
  const makeOf = (sight: Sight): C => {
    const { capabilities } = letIn(request, workerId, sight);
    return make({ workerId, capabilities, grounds: sight.grounds });
  };
  return context.sights.enter(workerId, makeOf, enter);
}

/** @throws CodelanesError `WORKER_OFFLINE` where the worker never was, or is none of this caller's. */
function letIn(request: FastifyRequest, workerId: string, sight: Sight): WorkerView {
  const worker = usable(request, workerId, sight);
  if (worker !== undefined) return worker;
  throw new CodelanesError('WORKER_OFFLINE', `No worker "${workerId}" has registered with this bridge.`);
}

/** A worker as it is, or `undefined` where it never was, or is none of this caller's; only the log tells which. */
export async function usableWorker(
  { sights }: RouteContext,
  request: FastifyRequest,
  workerId: string,
): Promise<WorkerView | undefined> {
  return usable(request, workerId, await sights.look(workerId));
}

function usable(
  request: FastifyRequest,
  workerId: string,
  { worker, standing, isKept }: Sight,
): WorkerView | undefined {
  const identity = identityOf(request);
  if (mayUse(identity, workerId, standing)) return worker;
  const why = standing?.kind === 'revoked' ? 'the worker was revoked' : 'the worker works for others';
  if (!isKept) request.log.warn({ workerId, principal: identity.principal, why }, 'turned away');
  return undefined;
}

/**
 * The worker that a caller's header names, or its token.
 *
 * @throws CodelanesError `WORKER_UNAUTHORIZED` where its token does not name the one that its header names.
 */
export function namedWorker({ user }: Identity, named: string | undefined): string | undefined {
  if (user === undefined || named === undefined || named === user.workerId) return named ?? user?.workerId;
  throw new CodelanesError(
    'WORKER_UNAUTHORIZED',
    `Header ${workerIdHeader} names the worker "${named}", and the token does not.`,
  );
}

async function onlyWorker({ store, pairings }: RouteContext, identity: Identity): Promise<string> {
  const workers = await store.workers();
  const standings = await Promise.all(workers.map((workerId) => pairings.standing(workerId)));
  const [only, ...others] = workers.filter((workerId, index) => mayUse(identity, workerId, standings[index]));
  if (only === undefined) {
    throw new CodelanesError('WORKER_OFFLINE', 'No worker has registered with this bridge yet.');
  }
  if (others.length === 0) return only;
  throw malformed(`header ${workerIdHeader}: expected the id of a worker, as this bridge has more than one`);
}
