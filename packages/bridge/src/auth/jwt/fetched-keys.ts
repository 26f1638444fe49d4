import type { IncomingMessage } from 'node:http';
import { get as getPlainly } from 'node:http';
import { get as getOverTls } from 'node:https';
import { CodelanesError } from '@codelanes/protocol';
import type { KeySource } from './key-source.js';
import type { VerificationKey } from './verification-keys.js';
import { keyFor, parseVerificationKeys } from './verification-keys.js';

const mostBytes = 256 * 1024;

export interface FetchTimes {
  /** Keys older than this are fetched again in the background. */
  readonly freshMs: number;
  /** Keys older than this verify nothing any more, however long the URL is away. */
  readonly usableMs: number;
  /** Between two attempts, whatever ids tokens name: nobody makes the bridge ask more often. */
  readonly betweenMs: number;
  readonly answerMs: number;
}

const defaultTimes: FetchTimes = {
  freshMs: 600_000,
  usableMs: 3_600_000,
  betweenMs: 10_000,
  answerMs: 5_000,
};

/** Keys of a URL: asked again when they are old, and when a token names an id that they do not have. */
export class FetchedKeys implements KeySource {
  readonly #url: string;
  readonly #times: FetchTimes;
  readonly #onFault: (error: Error) => void;
  readonly #now: () => number;
  #keys: readonly VerificationKey[] = [];
  /** Of what they were made. */
  #fetched = '';
  #version = 0;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;

  constructor(
    url: string,
    options: {
      readonly onFault: (error: Error) => void;
      readonly times?: Partial<FetchTimes>;
      readonly now?: () => number;
    },
  ) {
    this.#url = url;
    this.#times = { ...defaultTimes, ...options.times };
    this.#onFault = options.onFault;
    this.#now = options.now ?? (() => performance.now());
  }

  get version(): number {
    return this.#version;
  }

  find(keyId: string | undefined): VerificationKey | undefined | Promise<VerificationKey | undefined> {
    const { freshMs, usableMs } = this.#times;
    const ageMs = this.#now() - this.#fetchedAt;
    const known = ageMs < usableMs ? keyFor(this.#keys, keyId) : undefined;
    if (known === undefined) return this.#findAnew(keyId);
    if (ageMs > freshMs) void this.refresh();
    return known;
  }

  /** Fetches the keys, unless that was tried a moment ago; those that are there stay where it fails. */
  refresh(): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching;
    if (this.#now() - this.#triedAt < this.#times.betweenMs) return Promise.resolve();
    this.#triedAt = this.#now();
    this.#fetching = this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #findAnew(keyId: string | undefined): Promise<VerificationKey | undefined> {
    await this.refresh();
    if (this.#now() - this.#fetchedAt < this.#times.usableMs) return keyFor(this.#keys, keyId);
    throw new CodelanesError(
      'SIGNING_KEYS_UNAVAILABLE',
      'The bridge could not load the keys that verify its callers.',
    );
  }

  async #fetch(): Promise<void> {
    try {
      const text = await this.#text();
      const keys = parseVerificationKeys(text);
      this.#fetchedAt = this.#now();
      if (text === this.#fetched) return;
      this.#keys = keys;
      this.#fetched = text;
      this.#version += 1;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#onFault(new Error(`The keys of ${this.#url} cannot be used: ${why}.`, { cause: error }));
    }
  }

  async #text(): Promise<string> {
    // No redirect is followed: the keys come from where the operator said, or not at all.
    const reply = await responseOf(this.#url, AbortSignal.timeout(this.#times.answerMs));
    if (reply.statusCode !== 200) {
      reply.resume();
      throw new Error(`it answered with status ${reply.statusCode}`);
    }
    const body: AsyncIterable<Buffer> = reply;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > mostBytes) throw new Error(`it answered with more than ${mostBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }
}

function responseOf(url: string, signal: AbortSignal): Promise<IncomingMessage> {
  const get = url.startsWith('https:') ? getOverTls : getPlainly;
  return new Promise((resolve, reject) => {
    get(url, { signal }, resolve).on('error', reject);
  });
}
