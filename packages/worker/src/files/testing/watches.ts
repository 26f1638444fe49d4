import type * as fileSystem from 'node:fs';

/** Whether the system has watches to give. */
export const watches = { areLeft: true };

/** The file system's functions, of which those that watch find no watch where none is left. */
export function withWatches(fs: typeof fileSystem): typeof fileSystem {
  const noWatch = (): never => {
    throw new Error('ENOSPC: no watches are left');
  };
  return {
    ...fs,
    get watch() {
      return watches.areLeft ? fs.watch : noWatch;
    },
  };
}
