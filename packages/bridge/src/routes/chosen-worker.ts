import type { Capabilities } from '@codelanes/protocol';
import { CodelanesError, workerIdHeader } from '@codelanes/protocol';
import type { FastifyRequest } from 'fastify';
import type { Identity } from '../auth/identity.js';
import { mayUse } from '../auth/worker-access.js';
import type { Sight } from '../dispatch/worker-sights.js';
import type { WorkerView } from '../scheduler/store.js';
import { identityOf } from './admission.js';
import type { RouteContext } from './context.js';
import { malformed } from './parse.js';

/** A worker and what it advertises. */
export interface ChosenWorker {
  readonly workerId: string;
  readonly capabilities: Capabilities;
}

/**
 * The worker that a call is for: the one that its header names, else the one that its token names, else the only one
 * that its caller may use. One that the caller may not use is answered as one that never was.
 *
 * @throws CodelanesError `WORKER_UNAUTHORIZED` where a signed token does not name the worker that the header names;
 * `WORKER_OFFLINE` where there is none; `MALFORMED_REQUEST` where there are several.
 */
export async function chosenWorker(
  context: RouteContext,
  request: FastifyRequest,
  named: string | undefined,
): Promise<ChosenWorker> {
  const identity = identityOf(request);
  const workerId = await chosenWorkerId(context, identity, named);
  return {
    workerId,
    capabilities: letIn(request, workerId, await context.sights.look(workerId)).capabilities,
  };
}

/** Which worker that is, whether or not its caller may use it. */
export async function chosenWorkerId(
  context: RouteContext,
  identity: Identity,
  named: string | undefined,
): Promise<string> {
  return namedWorker(identity, named) ?? (await onlyWorker(context, identity));
}

/** @throws CodelanesError `WORKER_OFFLINE` where the worker never was, or is none of this caller's. */
export function letIn(request: FastifyRequest, workerId: string, sight: Sight): WorkerView {
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
