import { limits, pathFault } from '@codelanes/protocol';
import type { Directory } from '../files/directory.js';
import { readFile } from '../files/read.js';
import { FileRefusal } from '../files/refusal.js';
import { readPointer } from './git-pointer.js';

/** Where a worktree stands; `null` where it is on no branch, or where that cannot be told. */
export interface LaneHead {
  readonly branch: string | null;
  /** The commit. */
  readonly head: string | null;
}

const branchRef = /^ref: refs\/heads\/(.+)$/u;
const commitId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u;
/** A list of refs of this size is read in a moment; a larger one is not worth it. */
const packedBytes = 8 * 1024 * 1024;

/**
 * Reads where a worktree stands, without Git: no process is started, no link followed. What an agent wrote into its
 * metadata leads to `null` at worst. Only a label: nothing may be decided by it.
 */
export async function laneHead(metadata: Directory, commonDir: Directory): Promise<LaneHead> {
  const line = await orUndefined(() => readPointer(metadata, 'HEAD').text);
  if (line === undefined) return { branch: null, head: null };
  if (commitId.test(line)) return { branch: null, head: line };
  const branch = branchRef.exec(line)?.[1];
  if (branch === undefined || branch.length > limits.labelLength || pathFault(branch) !== undefined) {
    return { branch: null, head: null };
  }
  const head = (await looseRef(commonDir, branch)) ?? (await packedRef(commonDir, branch));
  return { branch, head: head ?? null };
}

function looseRef(commonDir: Directory, branch: string): Promise<string | undefined> {
  return orUndefined(() => {
    const folders = ['refs', 'heads', ...branch.split('/')];
    const name = folders.pop() ?? '';
    const folder = commonDir.walk(folders);
    try {
      const { text } = readPointer(folder, name);
      return commitId.test(text) ? text : undefined;
    } finally {
      folder.close();
    }
  });
}

/** Where Git keeps the refs that it has put together: lines of a commit, a space and a ref. */
function packedRef(commonDir: Directory, branch: string): Promise<string | undefined> {
  return orUndefined(async () => {
    const { bytes } = await readFile(commonDir, 'packed-refs', { maxBytes: packedBytes });
    const ending = ` refs/heads/${branch}`;
    const line = bytes
      .toString()
      .split('\n')
      .find((each) => each.endsWith(ending));
    const id = line?.slice(0, -ending.length);
    return id !== undefined && commitId.test(id) ? id : undefined;
  });
}

/** What cannot be read is not known. */
async function orUndefined<T>(read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof FileRefusal) return undefined;
    throw error;
  }
}
