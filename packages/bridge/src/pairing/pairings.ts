import { randomBytes } from 'node:crypto';
import type { Binding, IssuedCredential, PairingReply, RedeemRequest } from '@codelanes/protocol';
import { CodelanesError, pairingCodeSchema } from '@codelanes/protocol';
import { ed25519Pem } from './ed25519-key.js';
import { newPairingCode } from './pairing-code.js';
import type { Enrolment, PairingRecord, Standing } from './pairing-record.js';
import { recordOfText, textOfRecord } from './pairing-record.js';
import type { PairingStore } from './pairing-store.js';
import { digestOf, recordOfSecret } from './secret-digest.js';

export interface PairingTimes {
  /** How long a pairing code can be redeemed. */
  readonly codeMs: number;
  /** How long a credential signs requests; one that has ended can still be exchanged for a new one. */
  readonly credentialMs: number;
  /** After its last refresh a worker is known for this long. */
  readonly keptMs: number;
}

const day = 86_400_000;
const defaultTimes: PairingTimes = { codeMs: 600_000, credentialMs: 900_000, keptMs: 90 * day };

/** Which workers there are that were paired, for whom they work, and what they sign with. */
export class Pairings {
  readonly #store: PairingStore;
  readonly #times: PairingTimes;
  readonly #now: () => number;

  constructor(store: PairingStore, times: Partial<PairingTimes> = {}, now: () => number = Date.now) {
    this.#store = store;
    this.#times = { ...defaultTimes, ...times };
    this.#now = now;
  }

  /** Whether pairings outlive the process. */
  get areLasting(): boolean {
    return this.#store.isLasting;
  }

  /** Whether records are kept beside calls. */
  get areBesideCalls(): boolean {
    return this.#store.isBesideCalls;
  }

  /** Makes a code by which a machine becomes that worker; earlier codes for it end. A worker that is paired goes on. */
  async offer(workerId: string, binding: Binding | undefined): Promise<PairingReply> {
    const code = newPairingCode();
    const codeDigest = digestOf(code);
    const expiresAt = this.#now() + this.#times.codeMs;
    await this.#store.replace({ code: codeDigest }, undefined, workerId, this.#times.codeMs);
    const offer = { codeDigest, expiresAt, ...(binding === undefined ? {} : { binding }) };
    await this.#change(workerId, (record) => ({ ...record, offer }));
    return { protocolVersion: 1, workerId, code, expiresAt: new Date(expiresAt).toISOString() };
  }

  /**
   * Enrols the key of the machine that has the code, in place of an earlier one, and spends the code.
   *
   * @throws CodelanesError `PAIRING_INVALID` for every code that is not the current one of its worker;
   * `MALFORMED_REQUEST` for a key of another kind.
   */
  async redeem({ code, workerId: expected, publicKey }: RedeemRequest): Promise<IssuedCredential> {
    const pem = ed25519Pem(publicKey);
    const codeDigest = digestOf(pairingCodeSchema.parse(code));
    const workerId = await this.#store.read({ code: codeDigest });
    if (workerId === undefined || (expected !== undefined && expected !== workerId)) throw invalidCode();
    const issued = this.#newCredential(workerId);
    const id = randomBytes(16).toString('hex');
    await this.#change(workerId, (record) => {
      // The change was made, and the answer of the store was lost.
      if (record.standing?.kind === 'enrolled' && record.standing.id === id) return record;
      const { offer } = record;
      if (offer?.codeDigest !== codeDigest || offer.expiresAt <= this.#now()) throw invalidCode();
      const { binding } = offer;
      const credentials = [issued.record];
      const bound = binding === undefined ? {} : { binding };
      const at = this.#now();
      return { standing: { kind: 'enrolled', id, at, publicKey: pem, credentials, ...bound } };
    });
    return issued.reply;
  }

  /** What is known of a worker: that it is paired, that it was sent away, or nothing. */
  async standing(workerId: string): Promise<Standing | undefined> {
    return (await this.look(workerId)).standing;
  }

  /** The standing of a worker, and the whole of the record that says so. */
  async look(
    workerId: string,
  ): Promise<{ readonly standing: Standing | undefined; readonly text: string | undefined }> {
    const text = await this.#store.read({ worker: workerId });
    return { standing: recordOfText(text).standing, text };
  }

  /**
   * A new credential for a worker that has shown one of its last two. The one that it has shown stays valid for its
   * own time, so that nothing is lost with this answer.
   *
   * @throws CodelanesError `UNAUTHENTICATED` where it was revoked or paired anew meanwhile.
   */
  async refresh(workerId: string, enrolmentId: string, shown: string): Promise<IssuedCredential> {
    const issued = this.#newCredential(workerId);
    await this.#change(workerId, (record) => {
      const { standing } = record;
      if (standing?.kind !== 'enrolled' || standing.id !== enrolmentId) throw unknownWorker();
      const { credentials } = standing;
      if (credentials.some(({ digest }) => digest === issued.record.digest)) return record;
      const kept = recordOfSecret(shown, credentials);
      if (kept === undefined) throw unknownWorker();
      return { ...record, standing: { ...standing, credentials: [kept, issued.record] } };
    });
    return issued.reply;
  }

  /** Sends a worker away: its key, its credentials and an open code are worth nothing from here on. */
  async revoke(workerId: string): Promise<void> {
    await this.#change(workerId, () => ({ standing: { kind: 'revoked', at: this.#now() } }));
  }

  /** Whether a nonce of a worker passes; `signedAt` and the time are in milliseconds. */
  useNonce(workerId: string, nonce: string, signedAt: number, keptMs: number): Promise<boolean> {
    return this.#store.useNonce(workerId, nonce, signedAt, keptMs);
  }

  /** Calls back with each worker of which something has changed; `undefined` says that some may have been missed. */
  watch(listener: (workerId: string | undefined) => void): () => void {
    return this.#store.watch(listener);
  }

  /** Calls back once that enrolment is none any more; returns what ends the watch. */
  onEnd(workerId: string, enrolmentId: string, listener: () => void): () => void {
    const look = () => void this.#tellEnd(workerId, enrolmentId, listener);
    const off = this.#store.watch((changed) => {
      if (changed === undefined || changed === workerId) look();
    });
    // It may have ended before anybody listened.
    look();
    return off;
  }

  async #tellEnd(workerId: string, enrolmentId: string, listener: () => void): Promise<void> {
    try {
      const standing = await this.standing(workerId);
      if (standing?.kind !== 'enrolled' || standing.id !== enrolmentId) listener();
    } catch {
      // A store that is away tells of every change that was missed once it is back.
    }
  }

  #newCredential(workerId: string): {
    readonly reply: IssuedCredential;
    readonly record: Enrolment['credentials'][number];
  } {
    const credential = randomBytes(32).toString('base64url');
    const expiresAt = this.#now() + this.#times.credentialMs;
    return {
      reply: { protocolVersion: 1, workerId, credential, expiresAt: new Date(expiresAt).toISOString() },
      record: { digest: digestOf(credential), expiresAt },
    };
  }

  /** Applies a change to the record as it is at that moment; the change has to bear to be asked again. */
  async #change(workerId: string, change: (record: PairingRecord) => PairingRecord): Promise<void> {
    for (;;) {
      const text = await this.#store.read({ worker: workerId });
      const next = textOfRecord(change(recordOfText(text)));
      if (await this.#store.replace({ worker: workerId }, text, next, this.#times.keptMs)) return;
    }
  }
}

function invalidCode(): CodelanesError {
  return new CodelanesError('PAIRING_INVALID', 'This pairing code was used, has expired, or never was one.');
}

/** The one answer to whoever is not a paired worker, whatever is wrong. */
export function unknownWorker(why?: string): CodelanesError {
  return new CodelanesError('UNAUTHENTICATED', 'This bridge does not know the credential of this worker.', {
    ...(why === undefined ? {} : { cause: new Error(why) }),
  });
}
