import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import type { Binding, Proof } from '@codelanes/protocol';
import {
  issuedCredentialSchema,
  pairingReplySchema,
  proofHeadersOf,
  proofText,
  workerWireVersion,
} from '@codelanes/protocol';
import type { Answer, TestBridge } from './test-bridge.js';
import { randomId } from './test-bridge.js';
import { testCapabilities } from './test-worker.js';

/** What of a signed request is otherwise than it should be. */
export interface Flaws {
  /** What is sent, in place of what was signed. */
  readonly sent?: Partial<{ method: string; target: string; body: string; workerId: string }>;
  readonly time?: string;
  readonly nonce?: string;
  readonly signature?: (right: string) => string;
  readonly credential?: string;
  readonly privateKey?: KeyObject;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A worker that was paired with a bridge, and signs what it sends. */
export class PairedWorker {
  readonly id: string;
  credential: string;
  readonly privateKey: KeyObject;
  readonly incarnationId = randomId();
  readonly registrationId = randomId();
  readonly #bridge: TestBridge;

  private constructor(bridge: TestBridge, id: string, credential: string, privateKey: KeyObject) {
    this.#bridge = bridge;
    this.id = id;
    this.credential = credential;
    this.privateKey = privateKey;
  }

  static async paired(bridge: TestBridge, workerId = 'laptop', binding?: Binding): Promise<PairedWorker> {
    const { code } = pairingReplySchema.parse(
      (await bridge.send('/v1/bridge/pairings', { as: 'admin', body: { workerId, binding } })).json,
    );
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const pem = publicKey.export({ type: 'spki', format: 'pem' });
    const body = { protocolVersion: 1, code, publicKey: pem };
    const { credential } = issuedCredentialSchema.parse(
      (await bridge.send('/v1/bridge/pairings/redeem', { body })).json,
    );
    return new PairedWorker(bridge, workerId, credential, privateKey);
  }

  /** The same worker at another bridge. */
  at(bridge: TestBridge): PairedWorker {
    return new PairedWorker(bridge, this.id, this.credential, this.privateKey);
  }

  register(flaws: Flaws = {}, { takeOver = true } = {}): Promise<Answer> {
    const body = {
      workerId: flaws.sent?.workerId ?? this.id,
      registrationId: this.registrationId,
      journalId: randomId(),
      capabilities: testCapabilities(),
      slots: 2,
      holds: [],
      // Of a worker that was paired before under that id leases may live on.
      takeOver,
    };
    return this.post('register', body, flaws);
  }

  poll(waitMs = 0, flaws: Flaws = {}): Promise<Answer> {
    return this.post('poll', { registrationId: this.registrationId, waitMs }, flaws);
  }

  refresh(flaws: Flaws = {}): Promise<Answer> {
    return this.#send(`/v1/bridge/workers/${this.id}/credentials/refresh`, { protocolVersion: 1 }, flaws);
  }

  post(route: string, body: object, flaws: Flaws = {}): Promise<Answer> {
    const whole = { version: workerWireVersion, incarnationId: this.incarnationId, ...body };
    return this.#send(`/v1/workers/${flaws.sent?.workerId ?? this.id}/${route}`, whole, flaws);
  }

  #send(target: string, body: object, flaws: Flaws): Promise<Answer> {
    const text = JSON.stringify(body);
    const { sent = {}, headers } = flaws;
    return this.#bridge.send(sent.target ?? target, {
      method: sent.method ?? 'POST',
      body: sent.body ?? text,
      headers: { ...this.signedHeaders(target, text, flaws), ...headers },
    });
  }

  /** The headers of a POST of that body to that target. */
  signedHeaders(target: string, body: string, flaws: Flaws = {}): Record<string, string> {
    const credential = flaws.credential ?? this.credential;
    const stamp = {
      time: flaws.time ?? String(Date.now()),
      nonce: flaws.nonce ?? randomBytes(24).toString('base64url'),
    };
    const bodyDigest = createHash('sha256').update(body).digest('hex');
    const text = proofText({ method: 'POST', target, credential, bodyDigest }, stamp);
    const right = sign(null, Buffer.from(text), flaws.privateKey ?? this.privateKey).toString('base64url');
    const proof: Proof = { ...stamp, signature: flaws.signature?.(right) ?? right };
    return { authorization: `Bridge ${credential}`, ...proofHeadersOf(proof) };
  }
}
