import { createHash } from 'node:crypto';
import { read as readCallback } from 'node:fs';
import { promisify } from 'node:util';
import { CodelanesError, limits } from '@codelanes/protocol';
import type { Directory } from '../files/directory.js';
import { openFile } from '../files/read.js';
import { refuseGitPath } from './git-guard.js';
import { notText } from './utf8-text.js';

const read = promisify(readCallback);

/** What a worker advertises of AGENTS.md or CLAUDE.md, and what a digest-fenced read answers. */
export interface Instructions {
  /** The first 32 KiB, cut after a whole character. */
  readonly content: string;
  /** Length of `content` in bytes. */
  readonly bytes: number;
  /** SHA-256 of `content`. */
  readonly sha256: string;
  readonly truncated: boolean;
}

/**
 * Takes a snapshot of a repository's instructions. With a digest it is answered only if it still is the one
 * that was advertised.
 *
 * @throws CodelanesError `INVALID_REQUEST` where the digest differs or the file is not text.
 * @throws FileRefusal where there is no such file in the lane.
 */
export async function readInstructions(
  directory: Directory,
  path: string,
  expectedSha256?: string,
): Promise<Instructions> {
  const head = await readHead(directory, path, limits.instructionBytes + 1);
  const truncated = head.length > limits.instructionBytes;
  const content = decode(head.subarray(0, limits.instructionBytes), truncated, path);
  const bytes = Buffer.from(content);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (expectedSha256 !== undefined && sha256 !== expectedSha256) {
    throw new CodelanesError(
      'INVALID_REQUEST',
      `"${path}" is not what it was when the worker advertised it: ask for the worker's status again, which has the new digest.`,
    );
  }
  return { content, bytes: bytes.length, sha256, truncated };
}

async function readHead(directory: Directory, path: string, maxBytes: number): Promise<Buffer> {
  const file = openFile(directory, path);
  try {
    refuseGitPath(file.path, path);
    const buffer = Buffer.alloc(maxBytes);
    let length = 0;
    while (length < maxBytes) {
      const { bytesRead } = await read(file.fd, buffer, length, maxBytes - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  } finally {
    file.close();
  }
}

function decode(bytes: Buffer, truncated: boolean, path: string): string {
  try {
    // As a stream, a character that the cut went through is left out instead of being an error.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: truncated });
  } catch {
    throw notText(path);
  }
}
