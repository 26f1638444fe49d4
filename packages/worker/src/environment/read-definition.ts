import { closeSync, constants, fstatSync, openSync, readSync, type BigIntStats } from 'node:fs';
import { resolve } from 'node:path';
import { DefinitionError } from './definition-error.js';
import { UntrustedPath, walkTrusted, type TrustedPath } from './trusted-path.js';

const maxBytes = 64 * 1024;

export interface DefinitionText {
  readonly text: string;
  /** The file, with every place by which it was reached. */
  readonly path: TrustedPath;
}

/**
 * Reads a file that only its operator can have written: one regular file with one name, owned by this user or root,
 * writable by nobody else, reached by places of which the same holds, at most 64 KiB of UTF-8.
 *
 * @throws {DefinitionError}
 */
export function readDefinition(path: string): DefinitionText {
  const file = resolve(path);
  const trusted = trustedFile(file);
  let fd: number;
  try {
    fd = openSync(trusted.canonical, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw refusal(file, 'cannot be opened; check that you may read it.', error);
  }
  try {
    const before = fstatSync(fd, { bigint: true });
    const fault = faultOf(before);
    if (fault !== undefined) throw refusal(file, fault);
    const bytes = readAll(fd);
    if (hasChanged(before, fstatSync(fd, { bigint: true }), bytes.length)) {
      throw refusal(file, 'was changed while it was read; try again.');
    }
    return { text: decoded(bytes, file), path: trusted };
  } finally {
    closeSync(fd);
  }
}

function trustedFile(file: string): TrustedPath {
  try {
    return walkTrusted(file);
  } catch (error) {
    if (error instanceof UntrustedPath) throw refusal(file, error.message, error);
    throw error;
  }
}

function faultOf(stats: BigIntStats): string | undefined {
  if (!stats.isFile()) return 'is not a regular file.';
  if (stats.size > BigInt(maxBytes)) return `has more than ${maxBytes} bytes.`;
  if (stats.nlink !== 1n) return 'has more than one hard link; a definition has one name only.';
  if (stats.uid !== BigInt(process.getuid?.() ?? 0) && stats.uid !== 0n)
    return 'belongs to another user; chown it.';
  if ((stats.mode & 0o022n) !== 0n) return 'may be written by others; chmod go-w it.';
  return undefined;
}

function readAll(fd: number): Buffer {
  const buffer = Buffer.alloc(maxBytes + 1);
  let length = 0;
  for (;;) {
    const read = readSync(fd, buffer, length, buffer.length - length, null);
    length += read;
    if (read === 0 || length === buffer.length) return buffer.subarray(0, length);
  }
}

function hasChanged(before: BigIntStats, after: BigIntStats, read: number): boolean {
  return (
    BigInt(read) !== before.size ||
    after.size !== before.size ||
    after.mtimeNs !== before.mtimeNs ||
    after.ctimeNs !== before.ctimeNs
  );
}

function decoded(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch (error) {
    throw refusal(file, 'is not UTF-8 text.', error);
  }
}

function refusal(file: string, sentence: string, cause?: unknown): DefinitionError {
  return DefinitionError.of(file, [{ sentence }], { cause });
}
