import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { sha256Schema } from '@codelanes/protocol';
import { z } from 'zod';
import type { Directory } from '../../files/directory.js';
import { openRegular } from '../../files/read.js';
import { FileRefusal } from '../../files/refusal.js';
import { writeAtomically } from '../../files/write.js';
import { isPrivateFile } from '../private-file.js';

/** Beside the trees of a snapshot; the time of its last change is that of the snapshot's last use. */
export const manifestName = 'manifest.json';
const mostBytes = 64 * 1024;

const count = z.int().min(0);

/** Says that a folder of the store was made by a worker, and what is in it. */
const manifestSchema = z.discriminatedUnion('state', [
  z.strictObject({ version: z.literal(1), state: z.literal('unfinished'), key: sha256Schema }),
  z.strictObject({
    version: z.literal(1),
    state: z.literal('complete'),
    key: sha256Schema,
    /** The folders that it holds, relative to a root; the tree of each bears its index as a name. */
    paths: z.array(z.string()).readonly(),
    entries: count,
    bytes: count,
    digest: sha256Schema,
  }),
]);
export type Manifest = z.infer<typeof manifestSchema>;
export type CompleteManifest = Extract<Manifest, { state: 'complete' }>;

export interface ReadManifest {
  readonly manifest: Manifest;
  /** Milliseconds since 1970. */
  readonly usedAt: number;
}

/** Resolves when it is on disk. */
export async function writeManifest(folder: Directory, manifest: Manifest): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify(manifest)}\n`);
  await writeAtomically(folder, manifestName, bytes, { create: 'either', mode: 0o600 });
}

/** `undefined` where there is none that a worker of this user wrote. */
export function readManifest(folder: Directory): ReadManifest | undefined {
  let fd: number;
  try {
    const entry = folder.find(manifestName);
    if (entry === undefined) return undefined;
    try {
      fd = openRegular(entry, manifestName);
    } finally {
      closeSync(entry.fd);
    }
  } catch (error) {
    if (error instanceof FileRefusal) return undefined;
    throw error;
  }
  try {
    const stats = fstatSync(fd, { bigint: true });
    if (!isPrivateFile(stats) || stats.size > BigInt(mostBytes)) return undefined;
    const { data } = manifestSchema.safeParse(parsed(readFileSync(fd, 'utf8')));
    return data && { manifest: data, usedAt: Number(stats.mtimeMs) };
  } finally {
    closeSync(fd);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
