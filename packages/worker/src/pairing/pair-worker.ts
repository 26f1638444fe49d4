import { generateKeyPairSync } from 'node:crypto';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { issuedCredentialSchema } from '@codelanes/protocol';
import type { IssuedCredential } from '@codelanes/protocol';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { isUntrusted } from '@codelanes/protocol';
import { keyFileOf, writeWorkerKey } from './worker-key.js';

/** A pairing that was not made; the message says why and what to do. */
export class PairingFailed extends Error {
  override readonly name = 'PairingFailed';
}

export interface PairingOptions {
  readonly bridgeUrl: string;
  readonly code: string;
  readonly stateDir: string;
  /** By which the certificate of the bridge is known, as PEM; it is kept with the key. */
  readonly authority?: string | undefined;
}

const answerMs = 30_000;

const refusalSchema = z.looseObject({ error: z.string(), next: z.string() });

/**
 * Makes a key, has the bridge enrol it for the worker that the code is for, and keeps it in the state folder. The
 * private key never leaves the machine.
 *
 * @throws PairingFailed
 */
export async function pairWorker({ bridgeUrl, code, stateDir, authority }: PairingOptions) {
  // The code is spent by its use: whether the key can be kept is seen before.
  assertWritable(dirname(keyFileOf(stateDir, 'any')));
  const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const base = bridgeUrl.replace(/\/+$/, '');
  const { workerId, credential, expiresAt } = await redeemed(base, { code, publicKey }, authority);
  const keyFile = keyFileOf(stateDir, workerId);
  const key = { bridgeUrl: base, workerId, authority, privateKey, credential, expiresAt };
  writeWorkerKey(keyFile, { version: 1, ...key });
  return { workerId, keyFile };
}

async function redeemed(
  base: string,
  what: { readonly code: string; readonly publicKey: string },
  authority: string | undefined,
): Promise<IssuedCredential> {
  const dispatcher = new Agent({ connect: authority === undefined ? {} : { ca: authority } });
  const reply = await request(`${base}/v1/bridge/pairings/redeem`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ protocolVersion: 1, ...what }),
    signal: AbortSignal.timeout(answerMs),
    dispatcher,
  }).catch((error: unknown) => {
    const next = isUntrusted(error)
      ? 'Name the authority of its certificate with --ca-file'
      : 'See whether its address is right';
    throw failed(`The bridge at ${base} cannot be reached`, next, error);
  });
  const json: unknown = await reply.body.json().catch(() => undefined);
  await dispatcher.close();
  const issued = issuedCredentialSchema.safeParse(json);
  if (reply.statusCode === 200 && issued.success) return issued.data;
  const refusal = refusalSchema.safeParse(json);
  if (refusal.success) throw new PairingFailed(`${refusal.data.error} ${refusal.data.next}`);
  throw failed(`${base} is no bridge of Codelanes`, 'Give the address that the pairing was made at');
}

function assertWritable(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw failed(`The key cannot be kept in ${folder}`, 'Name another folder with --state', error);
  }
}

function failed(what: string, next: string, cause?: unknown): PairingFailed {
  return new PairingFailed(`${what}. ${next}.`, { cause });
}
