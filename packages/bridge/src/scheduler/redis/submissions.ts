import { setTimeout as sleep } from 'node:timers/promises';
import { CodelanesError } from '@codelanes/protocol';
import type { SubmissionRefused, Submitted } from '../store.js';
import type { NewCall } from '../stored-call.js';
import type { SchedulerSettings } from '../scheduler-settings.js';
import type { BridgeName } from './bridge-name.js';
import type { CallWhereabouts } from './call-whereabouts.js';
import { storedBody } from './deliveries.js';
import { groundsGiven } from './grounds.js';
import type { HeardCalls } from './heard-calls.js';
import type { Presence } from './presence.js';
import type { Reach } from './reach.js';
import { refusalOf } from './refusals.js';
import { lanePath, modeLetter, poolLetter, storedText } from './stored-text.js';
import type { Wakes } from './wakes.js';
import type { ScriptReply, WorkerScripts } from './worker-scripts.js';

/** How soon a Redis that refused to take a call back is asked again. */
const askAgainMs = 200;

interface Parts {
  readonly scripts: Pick<WorkerScripts, 'run'>;
  readonly settings: SchedulerSettings;
  readonly name: Pick<BridgeName, 'id' | 'nextAttempt'>;
  readonly whereabouts: Pick<CallWhereabouts, 'claim' | 'remember'>;
  readonly wakes: Pick<Wakes, 'hearOf'>;
  readonly heard: Pick<HeardCalls, 'entered'>;
  readonly presence: Pick<Presence, 'begin'>;
  readonly reach: Pick<Reach, 'watch'>;
}

/** Enters calls, and takes those back that may have been entered when Redis was lost. */
export class Submissions {
  readonly #parts: Parts;
  /** By worker, the calls that are to be taken back, the oldest first. */
  readonly #toTakeBack = new Map<string, Set<string>>();
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async submit(call: NewCall): Promise<Submitted | SubmissionRefused> {
    const { callId, workerId } = call;
    const { whereabouts, wakes, heard, presence } = this.#parts;
    // Heard from before the call is there, so that no change of it is missed.
    await wakes.hearOf(workerId);
    const reply = await this.#orTakenBack(this.#enter(call), call);
    const refusal = refusalOf(reply, workerId);
    if (refusal !== undefined) return refusal;
    whereabouts.remember(callId, workerId);
    const state = reply.values.text() === 'reserved' ? 'reserved' : 'waiting';
    heard.entered(callId, state);
    if (state === 'waiting') presence.begin(workerId);
    return { ok: true, state };
  }

  /** Takes nothing back any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** @throws CodelanesError also where another worker has a call of that id, and this one may have run before it was known. */
  async #enter(call: NewCall): Promise<ScriptReply> {
    const { callId, workerId } = call;
    const { scripts, whereabouts } = this.#parts;
    const entered = scripts.run('submit', workerId, this.#argumentsOf(call));
    const claimed = whereabouts.claim(callId, workerId, call.executionMs);
    const [holder, reply] = await bothOver(claimed, entered);
    if (holder === workerId || reply.code !== 'OK') return reply;
    const { values } = await scripts.run('cancel', workerId, [callId]);
    if (values.text() === 'withdrawn') return { code: 'CALL_ID_TAKEN', values };
    throw new CodelanesError('CALL_ID_TAKEN', `There is already a call ${callId}.`);
  }

  #argumentsOf(call: NewCall): readonly string[] {
    const { settings, name } = this.#parts;
    return [
      call.callId,
      lanePath(call.lane),
      modeLetter(call.mode),
      poolLetter(call.pool),
      storedText(call.principal),
      storedText(call.fingerprint),
      call.request.operation,
      name.id,
      name.nextAttempt(),
      String(settings.queueLength),
      String(settings.principalQueueLength),
      storedBody(call),
      ...groundsGiven(call),
    ];
  }

  /** A submission that fails on its way may have been entered: then it is taken back, and nobody knows what ran. */
  async #orTakenBack<T>(submission: Promise<T>, { callId, workerId }: NewCall): Promise<T> {
    const wasNeverConnected = this.#parts.reach.watch();
    try {
      return await submission;
    } catch (error) {
      if (!CodelanesError.is(error) || wasNeverConnected()) throw error;
      this.#takeBack(callId, workerId);
      const message = `${error.message} It is not known whether the call ran.`;
      throw new CodelanesError('ASSIGNMENT_EXPIRED', message, { cause: error });
    }
  }

  #takeBack(callId: string, workerId: string): void {
    const present = this.#toTakeBack.get(workerId);
    if (present !== undefined) {
      present.add(callId);
      return;
    }
    const callIds = new Set([callId]);
    this.#toTakeBack.set(workerId, callIds);
    void this.#takeAllBack(workerId, callIds);
  }

  /** One after the other: a Redis that refuses is asked no more often for many calls than for one. */
  async #takeAllBack(workerId: string, callIds: Set<string>): Promise<void> {
    for (const callId of callIds) {
      while (!this.#isClosed && !(await this.#isTakenBack(callId, workerId))) {
        await sleep(askAgainMs, undefined, { ref: false });
      }
      callIds.delete(callId);
    }
    this.#toTakeBack.delete(workerId);
  }

  #isTakenBack(callId: string, workerId: string): Promise<boolean> {
    return this.#parts.scripts.run('cancel', workerId, [callId]).then(
      () => true,
      () => false,
    );
  }
}

/** Fails only when both are over: of two commands the one may be given up while the other still reaches Redis. */
async function bothOver<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}
