import { createHash, verify } from 'node:crypto';
import type { Proof } from '@codelanes/protocol';
import { CodelanesError, proofOf, proofText } from '@codelanes/protocol';
import { ed25519KeyOf } from './ed25519-key.js';
import type { Enrolment } from './pairing-record.js';
import type { Pairings } from './pairings.js';
import { unknownWorker } from './pairings.js';
import { recordOfSecret } from './secret-digest.js';

/** By how much the clocks of a worker and its bridge may differ. */
const skewMs = 60_000;
/** A nonce is kept for longer than a proof with it could be in time. */
const nonceKeptMs = 2 * skewMs + 30_000;

export interface ProvingRequest {
  readonly workerId: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/**
 * What a paired worker's request says of itself before its body is read. It is worth nothing until `over` has
 * resolved: the signature is of the body too.
 */
export class WorkerProof {
  readonly workerId: string;
  readonly enrolment: Enrolment;
  readonly credential: string;
  readonly #request: ProvingRequest;
  readonly #proof: Proof;
  readonly #pairings: Pairings;
  #isProven = false;

  private constructor(
    request: ProvingRequest,
    pairings: Pairings,
    known: { readonly enrolment: Enrolment; readonly credential: string; readonly proof: Proof },
  ) {
    this.workerId = request.workerId;
    this.enrolment = known.enrolment;
    this.credential = known.credential;
    this.#proof = known.proof;
    this.#request = request;
    this.#pairings = pairings;
  }

  /**
   * Looks the worker and its credential up.
   *
   * @throws CodelanesError `UNAUTHENTICATED`, in the same words whatever is wrong.
   */
  static async begin(request: ProvingRequest, pairings: Pairings): Promise<WorkerProof> {
    const credential = /^Bridge +([\w-]{43})$/i.exec(String(request.headers['authorization']))?.[1];
    const proof = proofOf(request.headers);
    if (credential === undefined || proof === undefined) throw unknownWorker('the proof is malformed');
    const enrolment = await pairings.standing(request.workerId);
    if (enrolment?.kind !== 'enrolled') {
      throw unknownWorker(enrolment === undefined ? 'no such worker is paired' : 'the worker was revoked');
    }
    if (recordOfSecret(credential, enrolment.credentials) === undefined)
      throw unknownWorker('the credential is not of this worker');
    return new WorkerProof(request, pairings, { enrolment, credential, proof });
  }

  get isProven(): boolean {
    return this.#isProven;
  }

  /**
   * Resolves where the request, body included, was signed by the worker's key, just now and once.
   *
   * @throws CodelanesError `UNAUTHENTICATED`; and of a signature that holds `CLOCK_SKEWED`, `PROOF_REPLAYED`,
   * `CREDENTIAL_EXPIRED`, which with `takesExpired` is none.
   */
  async over(body: Uint8Array, { takesExpired }: { readonly takesExpired: boolean }): Promise<void> {
    this.#assertSigned(body);
    const signedAt = Number(this.#proof.time);
    const now = Date.now();
    if (Math.abs(now - signedAt) > skewMs) throw skewed(signedAt - now);
    const expiresAt = recordOfSecret(this.credential, this.enrolment.credentials)?.expiresAt ?? 0;
    if (expiresAt <= now && !takesExpired) throw expired();
    if (!(await this.#pairings.useNonce(this.workerId, this.#proof.nonce, signedAt, nonceKeptMs))) {
      throw replayed();
    }
    this.#isProven = true;
  }

  #assertSigned(body: Uint8Array): void {
    const { method, target } = this.#request;
    const bodyDigest = createHash('sha256').update(body).digest('hex');
    const text = proofText({ method, target, credential: this.credential, bodyDigest }, this.#proof);
    const signature = Buffer.from(this.#proof.signature, 'base64url');
    if (verify(null, Buffer.from(text), ed25519KeyOf(this.enrolment.publicKey), signature)) return;
    throw unknownWorker('the signature does not hold');
  }
}

function skewed(aheadMs: number): CodelanesError {
  const seconds = Math.max(1, Math.round(Math.abs(aheadMs) / 1000));
  const how = aheadMs > 0 ? 'ahead of' : 'behind';
  return new CodelanesError(
    'CLOCK_SKEWED',
    `The clock of the worker is ${seconds} s ${how} that of the bridge; ${skewMs / 1000} s are borne.`,
  );
}

function expired(): CodelanesError {
  return new CodelanesError('CREDENTIAL_EXPIRED', 'The credential of this worker has expired.');
}

function replayed(): CodelanesError {
  return new CodelanesError(
    'PROOF_REPLAYED',
    'This proof was used before, or signed before the bridge started.',
  );
}
