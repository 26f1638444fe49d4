import { Directory } from '../files/directory.js';

/** Folders of a worktree's metadata that Git appends to or renames in. */
const walked = new Set(['logs', 'refs']);
/** Git's file system monitor listens here. */
const socket = 'fsmonitor--daemon.ipc';
/** More are not looked at: a reflog folder of this size is not made by a worktree's own refs. */
const maxEntries = 2000;

export interface MetadataFault {
  readonly path: string;
  /** Continues a sentence that begins with the path. */
  readonly what: string;
}

/**
 * Finds what could lead a later write by Git somewhere else: links, second names of files, pipes and devices,
 * among the metadata itself and in its reflogs and refs.
 */
export function metadataFault(metadata: Directory): MetadataFault | undefined {
  let left = maxEntries;
  const look = (directory: Directory, prefix: string): MetadataFault | undefined => {
    for (const { name } of directory.list()) {
      left -= 1;
      if (left < 0) return { path: prefix, what: 'holds too many entries' };
      const path = `${prefix}${name}`;
      const fault = lookAt(directory, name, path);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  const lookAt = (parent: Directory, name: string, path: string): MetadataFault | undefined => {
    const entry = parent.look(name);
    if (entry === undefined) return undefined;
    if (entry.kind === 'directory' && (path.includes('/') || walked.has(name))) {
      return lookInto(parent, name, path);
    }
    if (entry.kind === 'symlink') return { path, what: 'is a symbolic link' };
    if (entry.kind === 'file' && entry.stats.nlink > 1n)
      return { path, what: 'has a second name (a hard link)' };
    if (entry.kind === 'other' && name !== socket) return { path, what: 'is neither a file nor a directory' };
    return undefined;
  };
  const lookInto = (parent: Directory, name: string, path: string): MetadataFault | undefined => {
    const entry = parent.find(name);
    if (entry === undefined) return undefined;
    const directory = Directory.of(entry);
    try {
      return look(directory, `${path}/`);
    } finally {
      directory.close();
    }
  };
  return look(metadata, '');
}
