import type { IssuedCredential } from '@codelanes/protocol';
import { SignedAccess } from './signed-access.js';

/** By what a worker is let in: the token of the bridge for workers, or the file of its own key. */
export type AccessChoice = { readonly token: string } | { readonly keyFile: string };

/** Asks the bridge for a new credential. */
export type Refresh = () => Promise<IssuedCredential>;

/** What lets the requests of a worker in. */
export interface Access {
  /** The headers that a POST of that body to that path needs. */
  headersOf(target: string, body: string): Readonly<Record<string, string>>;
  /** Before a request: what has to be waited for, and nothing as long as nothing has. */
  due(refresh: Refresh): Promise<void> | undefined;
  /** After the bridge said that what was shown is out of date. */
  renew(refresh: Refresh): Promise<void>;
}

/** @throws KeyFileError */
export function accessOf(choice: AccessChoice): Access {
  return 'keyFile' in choice ? new SignedAccess(choice.keyFile) : tokenAccess(choice.token);
}

function tokenAccess(token: string): Access {
  const headers = { authorization: `Bearer ${token}` };
  return { headersOf: () => headers, due: () => undefined, renew: () => Promise.resolve() };
}
