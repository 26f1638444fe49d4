import { createHash } from 'node:crypto';
import { CodelanesError } from '@codelanes/protocol';
import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { Identity } from '../identity.js';
import type { CallerClaims } from './caller-claims.js';
import { callerClaimsSchema, hasOwnHash } from './caller-claims.js';
import type { KeySource } from './key-source.js';
import type { VerificationKey } from './verification-keys.js';
import { VerifiedTokens } from './verified-tokens.js';

/** What a token has to say to be taken. */
export interface TokenTerms {
  readonly issuer: string;
  readonly audience: string;
  /** By how much the clocks of LibreChat and the bridge may differ. */
  readonly clockToleranceSeconds: number;
  /** The longest time from `iat` to `exp`. */
  readonly maxLifetimeSeconds: number;
}

const longestToken = 8192;

/**
 * The callers that come with a token signed by LibreChat. A verified token is kept by its digest until it expires,
 * so that the calls after the first one cost a hash.
 */
export class SignedCallers {
  readonly #keys: KeySource;
  readonly #terms: TokenTerms;
  readonly #now: () => number;
  readonly #verified: VerifiedTokens;
  #version: number;

  constructor(keys: KeySource, terms: TokenTerms, now: () => number = Date.now) {
    this.#keys = keys;
    this.#terms = terms;
    this.#now = now;
    this.#verified = new VerifiedTokens(now);
    this.#version = keys.version;
  }

  /** Whether a text has the form of such a token; one that has not is no concern of this class. */
  static hasForm(token: string): boolean {
    return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
  }

  /**
   * Who the token is of. Why one is refused is told only where its signature holds: nobody else learns which keys,
   * issuers or workers there are.
   *
   * @throws CodelanesError `UNAUTHENTICATED`, `SIGNING_KEYS_UNAVAILABLE`.
   */
  identify(token: string): Identity | Promise<Identity> {
    if (token.length > longestToken) throw refused('it is too long');
    const digest = createHash('sha256').update(token).digest('base64');
    this.#forgetOldKeys();
    return this.#verified.find(digest) ?? this.#verify(token, digest);
  }

  async #verify(token: string, digest: string): Promise<Identity> {
    const key = await this.#keys.find(keyIdOf(token));
    if (key === undefined) throw refused('it names no key of this bridge');
    const { version } = this.#keys;
    const claims = await this.#claimsOf(token, key);
    const identity = identityOf(claims);
    const lasts = claims.exp + this.#terms.clockToleranceSeconds;
    if (version === this.#keys.version) this.#verified.keep(digest, identity, lasts * 1000);
    return identity;
  }

  /** A token that was signed with a key which counts no more is not let in because it was before. */
  #forgetOldKeys(): void {
    if (this.#version === this.#keys.version) return;
    this.#version = this.#keys.version;
    this.#verified.forget();
  }

  async #claimsOf(token: string, key: VerificationKey): Promise<CallerClaims> {
    const { issuer, audience, clockToleranceSeconds: clockTolerance } = this.#terms;
    try {
      const { payload } = await jwtVerify(token, key.key, {
        // What the token says of itself chooses nothing: the kind of the key does.
        algorithms: [...key.algorithms],
        issuer,
        audience,
        clockTolerance,
        currentDate: new Date(this.#now()),
      });
      return this.#checked(payload);
    } catch (error) {
      throw refusalOf(error);
    }
  }

  #checked(payload: object): CallerClaims {
    const parsed = callerClaimsSchema.safeParse(payload);
    if (!parsed.success) {
      throw accepted(`its claim ${parsed.error.issues[0]?.path.join('.') ?? ''} is missing or malformed`);
    }
    const claims = parsed.data;
    const { clockToleranceSeconds, maxLifetimeSeconds } = this.#terms;
    if (claims.iat > this.#now() / 1000 + clockToleranceSeconds)
      throw accepted('it was issued in the future');
    if (claims.exp <= claims.iat) throw accepted('it expires before it was issued');
    if (claims.exp - claims.iat > maxLifetimeSeconds) {
      throw accepted(`it lasts longer than ${maxLifetimeSeconds} s`);
    }
    if (!hasOwnHash(claims)) throw accepted('its auth_context_hash is not that of its claims');
    return claims;
  }
}

function identityOf(claims: CallerClaims): Identity {
  const { tenant_id: tenantId, sub: userId, role, code_worker_id: workerId } = claims;
  return {
    kind: 'caller',
    principal: principalOf(tenantId, userId),
    user: { tenantId, userId, role, workerId },
  };
}

/** One name for one user of one tenant, whichever token; a list of two cannot be mistaken for another list. */
function principalOf(tenantId: string, userId: string): string {
  const text = JSON.stringify(['codelanes user', tenantId, userId]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function keyIdOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid;
  } catch (error) {
    throw refused('its header is none', error);
  }
}

/** Everything that went wrong before the signature was found to hold is told in the same words. */
function refusalOf(error: unknown): CodelanesError {
  if (CodelanesError.is(error)) return error;
  if (error instanceof errors.JWTExpired) return accepted('it has expired', error);
  if (error instanceof errors.JWTClaimValidationFailed) {
    return accepted(`its claim ${error.claim} does not hold`, error);
  }
  return refused('its signature does not hold', error);
}

/** A refusal of a token that was signed as it has to be; its holder is told why. */
function accepted(why: string, cause?: unknown): CodelanesError {
  return new CodelanesError('UNAUTHENTICATED', `The bearer token is signed, but ${why}.`, { cause });
}

/** The cause is for the log alone. */
function refused(why: string, cause?: unknown): CodelanesError {
  return new CodelanesError('UNAUTHENTICATED', 'This bridge does not know the bearer token.', {
    cause: new Error(why, { cause }),
  });
}
