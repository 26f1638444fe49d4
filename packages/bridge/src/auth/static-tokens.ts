import { createHash, timingSafeEqual } from 'node:crypto';
import { CodelanesError } from '@codelanes/protocol';

/** What a token was made for; a token of one kind opens no route of another. */
export type TokenKind = 'caller' | 'admin' | 'worker';

/** Who sent a request, once its token was recognised. */
export interface Identity {
  readonly kind: TokenKind;
  /** A short, stable name of the token that tells nothing of it; fairness and ownership of calls go by it. */
  readonly principal: string;
}

export interface TokenSet {
  readonly callers: readonly string[];
  readonly admin: string;
  readonly worker: string;
}

interface KnownToken extends Identity {
  readonly digest: Buffer;
}

/** The bearer tokens of one bridge, kept only as digests. */
export class StaticTokens {
  readonly #known: readonly KnownToken[];

  constructor(tokens: TokenSet) {
    this.#known = [
      ...tokens.callers.map((token) => knownToken('caller', token)),
      knownToken('admin', tokens.admin),
      knownToken('worker', tokens.worker),
    ];
  }

  /**
   * Who may pass by this `Authorization` header. Takes the same time whichever token is nearest.
   *
   * @throws CodelanesError `UNAUTHENTICATED` for no, a malformed or an unknown token; `FORBIDDEN` for a known
   * one of a kind that is not allowed here.
   */
  admit(authorization: string | undefined, allowed: readonly TokenKind[]): Identity {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) {
      throw new CodelanesError('UNAUTHENTICATED', 'This route needs a bearer token.');
    }
    const identity = this.#identify(token);
    if (identity === undefined) {
      throw new CodelanesError('UNAUTHENTICATED', 'This bridge does not know the bearer token.');
    }
    if (!allowed.includes(identity.kind)) {
      throw new CodelanesError(
        'FORBIDDEN',
        `This route takes a token for ${allowed.join(' or ')}, and this one is for ${identity.kind}.`,
      );
    }
    return { kind: identity.kind, principal: identity.principal };
  }

  #identify(token: string): KnownToken | undefined {
    const digest = digestOf(token);
    let found: KnownToken | undefined;
    // Every token is compared, so that the time does not tell which one was met.
    for (const known of this.#known) {
      if (timingSafeEqual(known.digest, digest)) found = known;
    }
    return found;
  }
}

function knownToken(kind: TokenKind, token: string): KnownToken {
  return { kind, principal: principalOf(token), digest: digestOf(token) };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Another digest than the one that is compared: principals are shown, and may not help to guess a token. */
function principalOf(token: string): string {
  return createHash('sha256').update('codelanes principal\0').update(token).digest('hex').slice(0, 12);
}
