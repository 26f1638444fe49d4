import { setTimeout as sleep } from 'node:timers/promises';
import { callIdSchema, durableStatusSchema } from '@codelanes/protocol';
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

/** A piece of work that was sent. */
export interface Attempt {
  /** No other has it. */
  readonly name: string;
  /** Its name, unless the bridge is to find one: then unknown until it has said which. */
  callId: string | undefined;
}

/** A piece of work that is under way. */
export interface Piece {
  readonly work: Work;
  /** By the monotonic clock. */
  readonly beganAt: number;
  /** The latest last. */
  readonly attempts: readonly Attempt[];
}

/** Callers that send work until each piece has an answer which is no invitation to send it again. */
export class Load {
  readonly #callers: readonly Caller[];
  readonly #headers: Readonly<Record<string, string>>;
  readonly sent = new Set<string>();
  readonly told: Told[] = [];
  readonly #underWay = new Set<Piece>();
  #hasGivenUp = false;
  #movedAt = performance.now();

  constructor(url: string, { callers, admin, asLibreChat = false }: LoadTerms) {
    this.#callers = callers.map((token) => new Caller(url, token, admin));
    this.#headers = asLibreChat ? { 'x-codelanes-client': '' } : {};
  }

  /** What has no answer yet that ends it, the oldest first. */
  get underWay(): readonly Piece[] {
    return [...this.#underWay];
  }

  /** When a piece of work began or ended last, by the monotonic clock. */
  get movedAt(): number {
    return this.#movedAt;
  }

  /** Nothing is sent any more: what is under way rejects with its next answer. */
  giveUp(): void {
    this.#hasGivenUp = true;
  }

  /** Does one piece of work after the other for as long as `next` has some. */
  async stream(next: () => Work | undefined): Promise<void> {
    for (let work = next(); work !== undefined; work = next()) await this.see(work);
  }

  /** Sends until it has run, or nobody knows whether it has. */
  async see(work: Work): Promise<Outcome> {
    const attempts: Attempt[] = [];
    const piece = { work, beganAt: performance.now(), attempts };
    this.#underWay.add(piece);
    this.#movedAt = performance.now();
    try {
      return await this.#untilOver(work, attempts);
    } finally {
      this.#underWay.delete(piece);
      this.#movedAt = performance.now();
    }
  }

  async #untilOver(work: Work, attempts: Attempt[]): Promise<Outcome> {
    for (;;) {
      const name = newCallId();
      const attempt: Attempt = { name, callId: work.isUnnamed === true ? undefined : name };
      attempts.push(attempt);
      if (attempt.callId !== undefined) this.sent.add(attempt.callId);
      const { outcome, words } = work.isDurable
        ? await this.#durable(work, attempt)
        : await this.#synchronous(work, name);
      // One that was refused before it had an id has none under which it could have run.
      const { callId = name } = attempt;
      this.sent.add(callId);
      this.told.push({ callId, outcome, words });
      if (outcome !== 'never ran') return outcome;
      await this.#beforeRetry();
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
  async #durable(work: Work, attempt: Attempt): Promise<Omit<Told, 'callId'>> {
    const requestId = requestIdOf(attempt);
    const path = '/v1/workspace-tools/requests';
    const options = optionsOf(work, attempt.callId, {
      ...this.#headers,
      'x-librechat-workspace-request-id': requestId,
    });
    for (;;) {
      const taken = await this.#answer(() => this.#callerOf(work).send('POST', path, work.request, options));
      const refused = taken && taken.status !== 202 ? outcomeOf(taken.status, taken.json) : undefined;
      if (refused !== undefined && refused.words !== 'STORE_UNAVAILABLE') return refused;
      if (taken?.status === 202) {
        attempt.callId = callIdSchema.parse(taken.headers.get('x-codelanes-call-id'));
        this.sent.add(attempt.callId);
        break;
      }
      await this.#beforeRetry();
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
      await this.#beforeRetry();
    }
  }

  /** `undefined` where none came. */
  async #answer(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    return ask().catch(() => undefined);
  }

  async #beforeRetry(): Promise<void> {
    await sleep(retryAfterMs);
    if (this.#hasGivenUp) throw new Error('the work was given up');
  }

  #callerOf({ caller }: Work): Caller {
    const found = this.#callers[caller];
    if (found === undefined) throw new Error(`there is no caller ${caller}`);
    return found;
  }
}

/** Under which id a durable request is sent. */
export function requestIdOf({ name }: Attempt): string {
  return `request-${name}`;
}

function optionsOf(
  { workerId, queueWaitMs }: Work,
  callId: string | undefined,
  headers: Readonly<Record<string, string>> = {},
) {
  const named = callId === undefined ? {} : { callId };
  return { ...named, queueWaitMs, headers: { 'x-librechat-code-worker-id': workerId, ...headers } };
}
