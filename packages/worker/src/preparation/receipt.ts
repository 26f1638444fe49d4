import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Schema } from '@codelanes/protocol';
import { z } from 'zod';
import { Directory } from '../files/directory.js';
import { writeAtomically } from '../files/write.js';
import { PreparationError } from './preparation-error.js';
import { isPrivateFile } from './private-file.js';

const fileName = 'receipt.json';
const receiptSchema = z.strictObject({
  version: z.literal(1),
  key: sha256Schema,
  /** Under what a snapshot of it is kept, if one is. */
  snapshot: sha256Schema.optional(),
});
export type Receipt = Omit<z.infer<typeof receiptSchema>, 'version'>;

/** Where a root's state folder keeps what is known of its setup: out of every root, and in no sandbox. */
export function preparationFolder(rootState: string): string {
  return join(rootState, 'environment-preparation');
}

/**
 * What the last setup made; `undefined` where none is known. A receipt that cannot be read is none.
 *
 * @throws {PreparationError} for one that somebody else could have written.
 */
export function readReceipt(folder: string): Receipt | undefined {
  const file = join(folder, fileName);
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw exposed(file, error);
  }
  try {
    if (!isPrivateFile(fstatSync(fd, { bigint: true }))) throw exposed(file);
    return receiptSchema.safeParse(parsed(readFileSync(fd, 'utf8'))).data;
  } finally {
    closeSync(fd);
  }
}

/** Resolves when it is on disk. */
export async function writeReceipt(folder: string, receipt: Receipt): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const directory = Directory.open(folder);
  try {
    const bytes = Buffer.from(`${JSON.stringify({ version: 1, ...receipt })}\n`);
    await writeAtomically(directory, fileName, bytes, { create: 'either', mode: 0o600 });
  } finally {
    directory.close();
  }
}

function exposed(file: string, cause?: unknown): PreparationError {
  return new PreparationError(
    `What it knows of an earlier setup, "${file}", is no plain file of this user's alone, so others may have written it: remove it, and setup runs again.`,
    { cause },
  );
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
