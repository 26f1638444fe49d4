import { randomUUID } from 'node:crypto';
import { link, rename, unlink, writeFile } from 'node:fs/promises';

const readableByOwnerOnly = 0o600;

/** Writes a file that only its owner can read; a reader sees the old text or the new one, never a part. */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, text, { mode: readableByOwnerOnly, flag: 'wx' });
  await rename(temporary, path);
}

/** Makes such a file where there is none; one that is there stays as it is. */
export async function createPrivateFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, text, { mode: readableByOwnerOnly, flag: 'wx' });
  try {
    await link(temporary, path);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  } finally {
    await unlink(temporary);
  }
}

export function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
