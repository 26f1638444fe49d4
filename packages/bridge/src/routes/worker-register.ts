import type { Capabilities, RegisterReply, RegisterRequest, WireError } from '@codelanes/protocol';
import { CodelanesError, laneOf, registerRequestSchema, workerWireVersion } from '@codelanes/protocol';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Identity } from '../auth/identity.js';
import { isOver } from '../dispatch/outcome.js';
import type { NodeCapacity, SchedulerStore } from '../scheduler/store.js';
import { identityOf } from './admission.js';
import type { RouteContext } from './context.js';
import { malformed, parseWorkerBody } from './parse.js';
import { admitWorker } from './worker-admission.js';
import { workerIdOf } from './worker-path.js';

/** `POST /v1/workers/:id/register`: takes in an incarnation of a worker and tells it the terms. */
export function workerRegisterRoute(app: FastifyInstance, context: RouteContext): void {
  const { store, settings } = context;
  app.post('/v1/workers/:id/register', admitWorker(context), async (request) => {
    const workerId = workerIdOf(request);
    const { version: _version, paused = [], ...offer } = parseWorkerBody(registerRequestSchema, request.body);
    if (offer.workerId !== workerId) throw malformed('body.workerId: expected the id that the path names');
    if (identityOf(request).enrolmentId === undefined) await refusePaired(context, workerId);
    const slots = Math.min(offer.slots, settings.slots);
    const registered = await store.register({
      ...offer,
      slots,
      filePool: settings.filePool,
      capacities: capacitiesOf(offer.capabilities),
    });
    if (!registered.ok) throw await refusalFor(context, identityOf(request), workerId, registered.error);
    if (offer.takeOver)
      request.log.warn({ workerId }, 'a worker took this identity over, as its operator asked');
    warnOfPaths(request.log, context, offer);
    return {
      version: workerWireVersion,
      slots,
      filePool: settings.filePool,
      leaseTtlMs: settings.leaseTtlMs,
      renewEveryMs: settings.renewEveryMs,
      unresolved: [...registered.unresolved],
      forgotten: await forgottenOf(store, workerId, paused),
    } satisfies RegisterReply;
  });
}

/**
 * The leases of a worker that was shut out end by themselves, as nobody can renew them. They are not ended before: what
 * runs under them may run until then, on a machine that hears of nothing. So whoever was paired since is put off.
 */
async function refusalFor(
  { store, pairings, settings }: RouteContext,
  { enrolmentId }: Identity,
  workerId: string,
  { code, message }: WireError,
): Promise<CodelanesError> {
  const refusal = new CodelanesError(code, message);
  if (code !== 'WORKER_FENCED' || enrolmentId === undefined) return refusal;
  const [standing, before] = await Promise.all([pairings.standing(workerId), store.worker(workerId)]);
  if (standing?.kind !== 'enrolled' || standing.id !== enrolmentId || before === undefined) return refusal;
  const { leaseExpiresInMs } = before;
  const heardAt = Date.now() - (settings.leaseTtlMs - leaseExpiresInMs);
  // It speaks for the pairing that counts now, and is elsewhere.
  if (standing.at <= heardAt) return refusal;
  const seconds = Math.ceil(leaseExpiresInMs / 1000);
  return new CodelanesError(
    'WORKER_STILL_LEASED',
    `Worker ${workerId} was paired anew. What it ran under its pairing before may run for up to ${seconds} s more, and is stopped by then: it is taken in after that, or at once with --take-over, where nothing of it runs any more.`,
  );
}

/** A bridge that was started anew knows nothing of them; others may have ended meanwhile. */
async function forgottenOf(
  store: SchedulerStore,
  workerId: string,
  paused: readonly string[],
): Promise<string[]> {
  const calls = await Promise.all(paused.map((callId) => store.call(callId)));
  return paused.filter((_, index) => {
    const call = calls[index];
    return call?.workerId !== workerId || isOver(call.view.state);
  });
}

function warnOfPaths(
  log: FastifyBaseLogger,
  { laneRouting }: RouteContext,
  { workerId, capabilities }: Pick<RegisterRequest, 'workerId' | 'capabilities'>,
): void {
  if (laneRouting.isOffered) return;
  const { workspaces } = capabilities.workspaceTools;
  if (workspaces.every((workspace) => workspace.laneRouting === undefined)) return;
  log.warn(
    { workerId },
    'lanes are to be found by path, which this bridge cannot: it was given no laneRouter',
  );
}

/** The token for workers is one for all of them, and must not open what was paired with one machine. */
async function refusePaired({ pairings }: RouteContext, workerId: string): Promise<void> {
  if ((await pairings.standing(workerId)) === undefined) return;
  throw new CodelanesError(
    'WORKER_UNAUTHORIZED',
    `The worker "${workerId}" is one that is paired, so the token for workers does not make it one.`,
  );
}

/** The bounds that the operator of a worker set on its repositories, by lane. */
function capacitiesOf({ workspaceTools }: Capabilities): NodeCapacity[] {
  return workspaceTools.workspaces.flatMap(({ id, capacities = [] }) =>
    capacities.map(({ repository, commands }) => ({
      lane: laneOf({ workspaceId: id, repository }),
      commands,
    })),
  );
}
