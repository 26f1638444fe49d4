import { createHash } from 'node:crypto';
import { digestOf, recordOfSecret } from '../pairing/secret-digest.js';
import type { Identity, Kind } from './identity.js';

export interface TokenSet {
  readonly callers: readonly string[];
  readonly admin: string;
  /** Left out, workers have to be paired. */
  readonly worker?: string | undefined;
}

interface KnownToken {
  readonly identity: Identity;
  readonly digest: string;
}

/** The bearer tokens of one bridge, kept only as digests; a token of one kind opens no route of another. */
export class StaticTokens {
  readonly #known: readonly KnownToken[];

  constructor({ callers, admin, worker }: TokenSet) {
    this.#known = [
      ...callers.map((token) => knownToken('caller', token)),
      knownToken('admin', admin),
      ...(worker === undefined ? [] : [knownToken('worker', worker)]),
    ];
  }

  /** Who that token is of, if it is one of these; it takes as long whichever it is, and if it is none. */
  find(token: string): Identity | undefined {
    return recordOfSecret(token, this.#known)?.identity;
  }
}

function knownToken(kind: Kind, token: string): KnownToken {
  return { identity: { kind, principal: principalOf(token) }, digest: digestOf(token) };
}

/** Another digest than the one that is compared: principals are shown, and may not help to guess a token. */
function principalOf(token: string): string {
  return createHash('sha256').update('codelanes principal\0').update(token).digest('hex').slice(0, 12);
}
