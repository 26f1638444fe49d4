import {
  durableEndKeptMs,
  durableRequestsKept,
  type DurableRequests,
  type DurableView,
  type NewDurableRequest,
  type SubmittedRequest,
} from '../../durable-requests.js';
import { refused } from '../../memory/refused.js';
import type { SubmissionRefused } from '../../store.js';
import type { SchedulerSettings } from '../../scheduler-settings.js';
import type { CallWhereabouts } from '../call-whereabouts.js';
import type { RedisClient } from '../connections.js';
import { storedBody } from '../deliveries.js';
import { groundsGiven } from '../grounds.js';
import type { RedisKeys } from '../keys.js';
import type { RedisProcesses } from '../redis-processes.js';
import { refusalOf } from '../refusals.js';
import { lanePath, modeLetter, poolLetter, storedText } from '../stored-text.js';
import type { WorkerScripts } from '../worker-scripts.js';
import { readRequest } from './read-request.js';
import { RequestWhereabouts } from './request-whereabouts.js';

/** What pauses, restarts and lapsed reservations may add to the budgets of a request. */
const slackMs = 3_600_000;

interface Parts {
  readonly scripts: WorkerScripts;
  readonly client: RedisClient;
  readonly keys: RedisKeys;
  readonly settings: SchedulerSettings;
  readonly whereabouts: CallWhereabouts;
  readonly processes: RedisProcesses;
}

/**
 * Durable requests in Redis. Of a request only its name and its call are stored; how it stands is how the call
 * stands, so there is nothing that could disagree. The call has no bridge to answer for it, and its end is kept
 * longer than that of other calls.
 */
export class RedisDurableRequests implements DurableRequests {
  readonly #parts: Parts;
  readonly #requests: RequestWhereabouts;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#requests = new RequestWhereabouts(parts.client, parts.keys);
  }

  async submit(request: NewDurableRequest): Promise<SubmittedRequest | SubmissionRefused> {
    const { requestId, fingerprint, queueWaitMs, call } = request;
    const { workerId, executionMs } = call;
    const { scripts, keys, settings, whereabouts } = this.#parts;
    const principal = storedText(call.principal);
    const lifeMs = durableEndKeptMs + queueWaitMs + executionMs + slackMs;
    const claim = await this.#requests.claim(principal, requestId, workerId, lifeMs);
    if (claim.workerId !== workerId) {
      return refused('REQUEST_CONFLICT', `Request ${requestId} is for worker ${claim.workerId}.`);
    }
    const args = [
      call.callId,
      lanePath(call.lane),
      modeLetter(call.mode),
      poolLetter(call.pool),
      principal,
      storedText(call.fingerprint),
      call.request.operation,
      ...[queueWaitMs, settings.queueLength, settings.principalQueueLength].map(String),
      storedBody(call),
      requestId,
      fingerprint,
      ...[durableRequestsKept, lifeMs].map(String),
      ...groundsGiven(call),
    ];
    const moreKeys = [keys.requestsOf(workerId, principal), keys.pairingOf(workerId)];
    const reply = await scripts.run('submitDurable', workerId, args, moreKeys);
    const refusal = refusalOf(reply, workerId);
    if (refusal !== undefined) {
      if (claim.isNew) await this.#letGo(principal, request, lifeMs);
      return refusal;
    }
    const view = readRequest({ requestId, workerId, principal }, reply.values);
    if (view === undefined) throw new Error(`request ${requestId} was taken in, but is not told of`);
    await Promise.all([
      this.#requests.keep(principal, requestId, workerId, lifeMs),
      whereabouts.claim(view.callId, workerId, lifeMs),
    ]);
    return { ok: true, view: this.#asKnown(view) };
  }

  /** Unless it was taken in after all, as it came a second time meanwhile. */
  async #letGo(principal: string, { requestId, call }: NewDurableRequest, lifeMs: number): Promise<void> {
    await this.#requests.letGo(principal, requestId);
    const view = await this.view(call.principal, requestId);
    if (view !== undefined) await this.#requests.keep(principal, requestId, call.workerId, lifeMs);
  }

  view(principal: string, requestId: string): Promise<DurableView | undefined> {
    return this.#ask('viewDurable', principal, requestId);
  }

  cancel(principal: string, requestId: string): Promise<DurableView | undefined> {
    return this.#ask('cancelDurable', principal, requestId);
  }

  async #ask(
    script: 'viewDurable' | 'cancelDurable',
    principalName: string,
    requestId: string,
  ): Promise<DurableView | undefined> {
    const principal = storedText(principalName);
    const workerId = await this.#requests.workerOf(principal, requestId);
    if (workerId === undefined) return undefined;
    const { scripts, keys } = this.#parts;
    const requestsKey = keys.requestsOf(workerId, principal);
    const { values } = await scripts.run(script, workerId, [requestId], [requestsKey]);
    const view = readRequest({ requestId, workerId, principal }, values);
    return view === undefined ? undefined : this.#asKnown(view);
  }

  /** A Redis that came back without its last seconds may say of a call that ran that it left the queue. */
  #asKnown(view: DurableView): DurableView {
    const { callId, workerId, stands } = view;
    if (stands.state !== 'ended') return view;
    const end = this.#parts.processes.lostSecondsOf(workerId).endOf(workerId, callId, stands.end);
    return { ...view, stands: { state: 'ended', end } };
  }
}
