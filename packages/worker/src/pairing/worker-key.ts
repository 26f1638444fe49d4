import { createPrivateKey, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { credentialSchema, workerIdSchema } from '@codelanes/protocol';
import { z } from 'zod';

const workerKeySchema = z.strictObject({
  version: z.literal(1),
  bridgeUrl: z.url({ protocol: /^https?$/ }),
  workerId: workerIdSchema,
  /** By which the certificate of the bridge is known, as PEM; left out, by what this machine trusts. */
  authority: z.string().optional(),
  /** Ed25519, as PEM of PKCS#8. It was made on this machine and never leaves it. */
  privateKey: z.string(),
  credential: credentialSchema,
  expiresAt: z.iso.datetime(),
});

/** What a paired worker shows its bridge; who has it is the worker. */
export type WorkerKey = z.infer<typeof workerKeySchema>;

/** A key file that cannot be used; the message says why and what to do. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

/** Where the key of a worker lies in its state folder. */
export function keyFileOf(stateDir: string, workerId: string): string {
  return join(stateDir, 'pairings', `${workerId}.json`);
}

/**
 * Reads a key that belongs to its owner alone.
 *
 * @throws KeyFileError
 */
export function readWorkerKey(file: string): WorkerKey {
  const text = readPrivately(file);
  try {
    const key = workerKeySchema.parse(JSON.parse(text));
    if (createPrivateKey(key.privateKey).asymmetricKeyType === 'ed25519') return key;
  } catch (error) {
    throw notUsable(file, 'it holds something else', error);
  }
  throw notUsable(file, 'its key is of another kind');
}

/** Writes it so that at every moment, a crash included, the file holds the old key or the new one, for its owner alone. */
export function writeWorkerKey(file: string, key: WorkerKey): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}`;
  const descriptor = openSync(temporary, 'wx', 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify(key, null, 2)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, file);
  syncFolder(folder);
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** What is looked at and what is read are one open file. */
function readPrivately(file: string): string {
  const descriptor = opened(file);
  try {
    const { mode, uid } = fstatSync(descriptor);
    if ((mode & 0o077) !== 0) throw notUsable(file, 'others can read it: it is no secret any more');
    if (uid !== process.getuid?.()) throw notUsable(file, 'it belongs to somebody else');
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

function opened(file: string): number {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    throw notUsable(file, 'it cannot be read', error);
  }
}

function notUsable(file: string, why: string, cause?: unknown): KeyFileError {
  return new KeyFileError(
    `The key file ${file} cannot be used: ${why}. Pair this worker anew with "codelanes pair".`,
    { cause },
  );
}
