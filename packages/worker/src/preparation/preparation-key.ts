import { createHash, type Hash } from 'node:crypto';
import { closeSync, readSync } from 'node:fs';
import type { EnvironmentSetup } from '../environment/setup.js';
import { identityOf, sameFile, segmentsOf, type Directory } from '../files/directory.js';
import { openRegular, versionOf, type FileVersion } from '../files/read.js';
import { FileRefusal } from '../files/refusal.js';
import { PreparationError } from './preparation-error.js';

const largestInputBytes = 8 * 1024 ** 2;
const allInputsBytes = 32 * 1024 ** 2;

export interface KeyedSetup {
  /** The root, held open. */
  readonly top: Directory;
  readonly setup: EnvironmentSetup & { readonly reuse: NonNullable<EnvironmentSetup['reuse']> };
  /** Whatever else decides what its commands see: policy and tool chains, as JSON. */
  readonly context: unknown;
}

/** SHA-256 in hex. */
export interface PreparationKeys {
  /** Which root was set up, by what definition, under which policy, with which Node, and from which bytes of its inputs. */
  readonly receipt: string;
  /** The same without what does not decide what is installed, the root above all: it is one for clones of a repository. */
  readonly snapshot: string;
}

/**
 * Names what a setup would make. Equal keys mean that what the one made is what the other would make.
 *
 * @throws {PreparationError} for an input that is missing, no regular file, reached by a link, too large, or that
 *   changes while it is read.
 */
export function preparationKeys({ top, setup, context }: KeyedSetup): PreparationKeys {
  const { dev, ino } = identityOf(top.stats);
  const { version, versions, platform, arch } = process;
  const { command, reuse } = setup;
  const common = {
    version: 2,
    context,
    machine: [version, versions.modules, platform, arch],
    inputs: digestOfInputs(top, reuse.inputs),
  };
  const recipe = { command, checkCommand: reuse.checkCommand, paths: reuse.snapshot?.paths };
  return {
    receipt: digest({ ...common, root: [String(dev), String(ino)], setup }),
    snapshot: digest({ ...common, recipe }),
  };
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

function digestOfInputs(top: Directory, inputs: readonly string[]): string {
  const hash = createHash('sha256');
  let room = allInputsBytes;
  for (const input of inputs) {
    try {
      room -= addInput(hash, top, input, room);
    } catch (error) {
      if (!(error instanceof FileRefusal)) throw error;
      throw faultOf(input, error.message, error);
    }
  }
  return hash.digest('hex');
}

/** Adds name, size and bytes of one input; returns its size. */
function addInput(hash: Hash, top: Directory, input: string, room: number): number {
  const fd = openInput(top, input);
  try {
    const before = versionOf(fd);
    if (before.size > BigInt(largestInputBytes)) {
      throw faultOf(
        input,
        `It has more than ${largestInputBytes} bytes; name the file that it is made from.`,
      );
    }
    const size = Number(before.size);
    if (size > room) {
      throw faultOf(input, `With it the inputs have more than ${allInputsBytes} bytes; name fewer.`);
    }
    // One byte more than expected shows that the end was reached.
    const buffer = Buffer.alloc(size + 1);
    let length = 0;
    for (;;) {
      const read = readSync(fd, buffer, length, buffer.length - length, length);
      length += read;
      if (read === 0 || length === buffer.length) break;
    }
    if (length !== size || !isSame(before, versionOf(fd))) {
      throw faultOf(input, 'It changed while it was read; start the worker again when nothing writes there.');
    }
    hash.update(JSON.stringify([input, size])).update(buffer.subarray(0, size));
    return size;
  } finally {
    closeSync(fd);
  }
}

/** Opened one name at a time: an input is never what a link leads to. */
function openInput(top: Directory, input: string): number {
  const segments = segmentsOf(input);
  const folder = top.walk(segments.slice(0, -1));
  try {
    const entry = folder.entry(segments.at(-1) ?? '');
    try {
      if (entry.kind === 'symlink') throw faultOf(input, 'It is a symbolic link; name the file itself.');
      return openRegular(entry, input);
    } finally {
      closeSync(entry.fd);
    }
  } finally {
    folder.close();
  }
}

function isSame(one: FileVersion, other: FileVersion): boolean {
  return (
    sameFile(one, other) &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs
  );
}

function faultOf(input: string, sentence: string, cause?: unknown): PreparationError {
  return new PreparationError(`The input "${input}" of its setup cannot be used. ${sentence}`, { cause });
}
