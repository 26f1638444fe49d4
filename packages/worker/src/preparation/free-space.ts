import { statfsSync } from 'node:fs';
import type { Storage } from '../environment/storage.js';

export interface FreeSpace {
  readonly free: bigint;
  /** What the definition asks for, both limits together. */
  readonly wanted: bigint;
}

/** How much room there is on the file system of a root, and how much its setup is to find there. */
export function freeSpace(root: string, { minFreeBytes, setupReserveBytes }: Storage): FreeSpace {
  const { bavail, bsize } = statfsSync(root, { bigint: true });
  return { free: bavail * bsize, wanted: BigInt(minFreeBytes) + BigInt(setupReserveBytes) };
}
