import { setTimeout as sleep } from 'node:timers/promises';
import { durableStatusSchema } from '@codelanes/protocol';
import { Caller, newCallId, type Answer } from '../rig/caller.js';
import { outcomeOf, outcomeOfCode } from './answer.js';
import type { Outcome, Told } from './checker.js';

import type { Work } from './work.js';

const retryAfterMs = 100;

export interface LoadTerms {
  /** The tokens of the callers. */
  readonly callers: readonly string[];
  readonly admin: string;
  /** They do not say that they are clients of Codelanes. */
  readonly asLibreChat?: boolean;
}

/** Callers that send work until each piece has an answer which is no invitation to send it again. */
export class Load {
  readonly #callers: readonly Caller[];
  readonly #headers: Readonly<Record<string, string>>;
  readonly sent = new Set<string>();
  readonly told: Told[] = [];

  constructor(url: string, { callers, admin, asLibreChat = false }: LoadTerms) {
    this.#callers = callers.map((token) => new Caller(url, token, admin));
    this.#headers = asLibreChat ? { 'x-codelanes-client': '' } : {};
  }

  /** Does one piece of work after the other for as long as `next` has some. */
  async stream(next: () => Work | undefined): Promise<void> {
    for (let work = next(); work !== undefined; work = next()) await this.see(work);
  }

  /** Sends until it has run, or nobody knows whether it has. */
  async see(work: Work): Promise<Outcome> {
    for (;;) {
      const callId = newCallId();
      this.sent.add(callId);
      const { outcome, words } = work.isDurable
        ? await this.#durable(work, callId)
        : await this.#synchronous(work, callId);
      this.told.push({ callId, outcome, words });
      if (outcome !== 'never ran') return outcome;
      await sleep(retryAfterMs);
    }
  }

  async #synchronous(work: Work, callId: string): Promise<Omit<Told, 'callId'>> {
    try {
      const { status, json } = await this.#callerOf(work).send(
        'POST',
        '/v1/workspace-tools/execute',
        work.request,
        optionsOf(work, callId, this.#headers),
      );
      return outcomeOf(status, json);
    } catch {
      return { outcome: 'unknown', words: 'the connection was cut' };
    }
  }

  /** Whoever has a durable request asks again until it is told how that ended. */
  async #durable(work: Work, callId: string): Promise<Omit<Told, 'callId'>> {
    const requestId = `request-${callId}`;
    const path = '/v1/workspace-tools/requests';
    const options = optionsOf(work, callId, {
      ...this.#headers,
      'x-librechat-workspace-request-id': requestId,
    });
    for (;;) {
      const taken = await this.#answer(() => this.#callerOf(work).send('POST', path, work.request, options));
      const refused = taken && taken.status !== 202 ? outcomeOf(taken.status, taken.json) : undefined;
      if (refused !== undefined && refused.words !== 'STORE_UNAVAILABLE') return refused;
      if (taken?.status === 202) break;
      await sleep(retryAfterMs);
    }
    for (;;) {
      const seen = await this.#answer(() => this.#callerOf(work).send('GET', `${path}/${requestId}`));
      if (seen?.status === 200) {
        const { state, error } = durableStatusSchema.parse(seen.json);
        if (state === 'completed') return { outcome: 'done', words: 'a durable result' };
        if (state === 'failed' || state === 'cancelled') {
          const code = error?.code ?? state;
          return { outcome: outcomeOfCode(code), words: `durable ${code}` };
        }
      } else if (seen?.status === 404) return { outcome: 'unknown', words: 'the durable request is unknown' };
      await sleep(retryAfterMs);
    }
  }

  /** `undefined` where none came. */
  async #answer(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    return ask().catch(() => undefined);
  }

  #callerOf({ caller }: Work): Caller {
    const found = this.#callers[caller];
    if (found === undefined) throw new Error(`there is no caller ${caller}`);
    return found;
  }
}

function optionsOf(
  { workerId, queueWaitMs }: Work,
  callId: string,
  headers: Readonly<Record<string, string>> = {},
) {
  return { callId, queueWaitMs, headers: { 'x-librechat-code-worker-id': workerId, ...headers } };
}
