import { CodelanesError } from '@codelanes/protocol';

export interface RateTerms {
  /** Calls of one principal within the window; all of them may come at once. */
  readonly calls: number;
  readonly windowMs: number;
}

/** A principal sent more calls than it may; nothing of this one ran. */
export class RateLimited extends CodelanesError {
  readonly retryAfterMs: number;

  constructor({ calls, windowMs }: RateTerms, retryAfterMs: number) {
    const seconds = Math.round(windowMs / 1000);
    super('RATE_LIMITED', `A caller may send ${calls} calls in ${seconds} s, and this one sent more.`);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * A bucket of tokens per principal, which fills at an even rate. Of each bucket only the moment is kept at which it
 * will be full again; full ones are forgotten. Counts at one bridge: behind a load balancer each counts its own.
 */
export class RateLimit {
  readonly #terms: RateTerms;
  readonly #now: () => number;
  readonly #fullAt = new Map<string, number>();
  #sweptAt: number;

  constructor(terms: RateTerms, now: () => number = () => performance.now()) {
    this.#terms = terms;
    this.#now = now;
    this.#sweptAt = now();
  }

  /** Takes one token. @throws RateLimited where there is none. */
  take(principal: string): void {
    const now = this.#now();
    this.#sweep(now);
    const { calls, windowMs } = this.#terms;
    const everyMs = windowMs / calls;
    const fullAt = Math.max(now, this.#fullAt.get(principal) ?? now) + everyMs;
    const missingMs = fullAt - now - windowMs;
    // A token that is short by rounding alone is there.
    if (missingMs > everyMs / 1000) throw new RateLimited(this.#terms, missingMs);
    this.#fullAt.set(principal, fullAt);
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < this.#terms.windowMs) return;
    this.#sweptAt = now;
    for (const [principal, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(principal);
  }
}
