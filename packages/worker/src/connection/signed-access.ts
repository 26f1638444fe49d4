import { createHash, createPrivateKey, randomBytes, sign, type KeyObject } from 'node:crypto';
import { proofHeadersOf, proofText } from '@codelanes/protocol';
import type { WorkerKey } from '../pairing/worker-key.js';
import { readWorkerKey, writeWorkerKey } from '../pairing/worker-key.js';
import type { Access, Refresh } from './access.js';

/** A credential is exchanged this long before its end, while it still lets requests in. */
const leadMs = 120_000;
/** Between two attempts in the background. */
const betweenMs = 5_000;

/** The access of a paired worker: each request is signed with its key, and its credential is exchanged in time. */
export class SignedAccess implements Access {
  readonly #file: string;
  readonly #privateKey: KeyObject;
  #key: WorkerKey;
  #refreshing: Promise<void> | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;

  /** @throws KeyFileError */
  constructor(file: string) {
    this.#file = file;
    this.#key = readWorkerKey(file);
    this.#privateKey = createPrivateKey(this.#key.privateKey);
  }

  headersOf(target: string, body: string): Readonly<Record<string, string>> {
    const { credential } = this.#key;
    const stamp = { time: String(Date.now()), nonce: randomBytes(24).toString('base64url') };
    const bodyDigest = createHash('sha256').update(body).digest('hex');
    const text = proofText({ method: 'POST', target, credential, bodyDigest }, stamp);
    const signature = sign(null, Buffer.from(text), this.#privateKey).toString('base64url');
    return { authorization: `Bridge ${credential}`, ...proofHeadersOf({ ...stamp, signature }) };
  }

  due(refresh: Refresh): Promise<void> | undefined {
    const leftMs = Date.parse(this.#key.expiresAt) - Date.now();
    if (leftMs > leadMs) return undefined;
    if (leftMs <= 0) return this.renew(refresh);
    if (performance.now() - this.#triedAt > betweenMs) {
      // It is tried again with a later request; the credential lasts for a while.
      this.renew(refresh).catch(() => undefined);
    }
    return undefined;
  }

  renew(refresh: Refresh): Promise<void> {
    this.#triedAt = performance.now();
    this.#refreshing ??= this.#exchange(refresh).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #exchange(refresh: Refresh): Promise<void> {
    const { credential, expiresAt } = await refresh();
    this.#key = { ...this.#key, credential, expiresAt };
    // Should this fail, the one before it is still good for the next exchange.
    writeWorkerKey(this.#file, this.#key);
  }
}
