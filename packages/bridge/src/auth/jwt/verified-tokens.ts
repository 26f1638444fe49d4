import type { Identity } from '../identity.js';

/** Of so many tokens the oldest are forgotten; they are verified again when they come. */
const most = 10_000;

interface Kept {
  readonly identity: Identity;
  readonly untilMs: number;
}

/** Who the tokens are of that were verified, by the digest of the whole token, until they expire. */
export class VerifiedTokens {
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();

  constructor(now: () => number) {
    this.#now = now;
  }

  find(digest: string): Identity | undefined {
    const kept = this.#kept.get(digest);
    if (kept === undefined) return undefined;
    if (kept.untilMs > this.#now()) return kept.identity;
    this.#kept.delete(digest);
    return undefined;
  }

  keep(digest: string, identity: Identity, untilMs: number): void {
    if (this.#kept.size >= most) this.#makeRoom();
    this.#kept.set(digest, { identity, untilMs });
  }

  forget(): void {
    this.#kept.clear();
  }

  /** A map lists its keys by age. */
  #makeRoom(): void {
    const now = this.#now();
    for (const [digest, { untilMs }] of this.#kept) if (untilMs <= now) this.#kept.delete(digest);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= most && oldest !== undefined) this.#kept.delete(oldest);
  }
}
