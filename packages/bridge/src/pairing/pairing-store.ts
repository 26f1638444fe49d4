/** A record: what is known of a worker's pairing, or whose a pairing code is. */
export type RecordName = { readonly worker: string } | { readonly code: string };

/**
 * Where the durable facts of pairings live. It knows nothing of what records mean; every change goes through
 * `replace`, so that of two that meet one is made and the other is decided anew.
 *
 * What every implementation guarantees, and one suite of tests asks of all:
 * - A change that was told as made is seen by every bridge of the store from then on. A record is gone when the time for
 *   which it was kept is over.
 * - A nonce of a worker passes once among all bridges of the store, and none passes that was used within its time.
 * - Listeners hear of every change of a worker's record. `undefined` says that some may have been missed.
 */
export interface PairingStore {
  /** Whether what is kept here outlives the process. */
  readonly isLasting: boolean;
  /** Whether calls are kept in the same place, so that the store of calls can look at a record while it enters one. */
  readonly isBesideCalls: boolean;
  read(name: RecordName): Promise<string | undefined>;
  /** Puts `next` in the place of a record that is `expected`; `undefined` is no record. Tells whether it did. */
  replace(
    name: RecordName,
    expected: string | undefined,
    next: string | undefined,
    keptMs: number,
  ): Promise<boolean>;
  /** Whether the nonce passes; `signedAt` is in milliseconds since 1970. */
  useNonce(workerId: string, nonce: string, signedAt: number, keptMs: number): Promise<boolean>;
  watch(listener: (workerId: string | undefined) => void): () => void;
  close(): Promise<void>;
}
