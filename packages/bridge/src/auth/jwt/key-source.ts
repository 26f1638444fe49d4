import type { VerificationKey } from './verification-keys.js';

/** The keys that verify callers, as they are now. */
export interface KeySource {
  /** Another number whenever other keys count than before: what was verified with those says nothing any more. */
  readonly version: number;

  /**
   * The key that a token with that id was signed with, if any.
   *
   * @throws CodelanesError `SIGNING_KEYS_UNAVAILABLE`
   */
  find(keyId: string | undefined): VerificationKey | undefined | Promise<VerificationKey | undefined>;
}
