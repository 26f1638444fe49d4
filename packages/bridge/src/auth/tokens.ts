import { CodelanesError } from '@codelanes/protocol';
import type { Identity, Kind } from './identity.js';
import { SignedCallers } from './jwt/signed-callers.js';
import type { StaticTokens } from './static-tokens.js';

/** Everything that may stand behind `Authorization: Bearer`: tokens of this bridge, and those that LibreChat signs. */
export class Tokens {
  readonly #fixed: StaticTokens;
  readonly #signed: SignedCallers | undefined;

  constructor(fixed: StaticTokens, signed?: SignedCallers) {
    this.#fixed = fixed;
    this.#signed = signed;
  }

  /**
   * Who may pass by this `Authorization` header; at once, unless a signed token is seen for the first time.
   *
   * @throws CodelanesError `UNAUTHENTICATED` for no, a malformed or an unknown token; `FORBIDDEN` for a known
   * one of a kind that is not allowed here; `SIGNING_KEYS_UNAVAILABLE`.
   */
  admit(authorization: string | undefined, allowed: readonly Kind[]): Identity | Promise<Identity> {
    const token = bearerOf(authorization);
    const known = this.#fixed.find(token);
    if (known !== undefined) return permitted(known, allowed);
    if (this.#signed === undefined || !SignedCallers.hasForm(token)) throw unknownToken();
    const caller = this.#signed.identify(token);
    return caller instanceof Promise
      ? caller.then((identity) => permitted(identity, allowed))
      : permitted(caller, allowed);
  }
}

function bearerOf(authorization: string | undefined): string {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw new CodelanesError('UNAUTHENTICATED', 'This route needs a bearer token.');
}

function unknownToken(): CodelanesError {
  return new CodelanesError('UNAUTHENTICATED', 'This bridge does not know the bearer token.');
}

function permitted(identity: Identity, allowed: readonly Kind[]): Identity {
  if (allowed.includes(identity.kind)) return identity;
  throw new CodelanesError(
    'FORBIDDEN',
    `This route takes a token for ${allowed.join(' or ')}, and this one is for ${identity.kind}.`,
  );
}
