import type { Directory } from '../../files/directory.js';
import { FileRefusal } from '../../files/refusal.js';
import type { KeptSnapshot } from './lifecycle.js';
import { readManifest, type ReadManifest } from './manifest.js';
import { namesOf } from './names-of.js';
import type { SnapshotStore } from './snapshot-store.js';

/** What an end in the midst of making or removing a snapshot left. */
export interface Leftover {
  /** In `staging`. */
  readonly name: string;
  readonly key: string;
}

/** What one look at a store found. */
export interface StoreContent {
  readonly snapshots: readonly KeptSnapshot[];
  readonly leftovers: readonly Leftover[];
  /** Whether it went through all names. */
  readonly complete: boolean;
}

const stagingPattern = /^([0-9a-f]{64})-[0-9a-f]{16}$/u;

/** Looks through a store. What no worker of this user made is left out, and so is what is in the making. */
export function lookThrough(store: SnapshotStore, scanLimit: number): StoreContent {
  const kept = namesOf(store.snapshots, scanLimit);
  const staged = namesOf(store.staging, scanLimit);
  return {
    snapshots: kept.names.flatMap((name) => {
      const found = manifestIn(store.snapshots, name);
      if (found?.manifest.state !== 'complete' || found.manifest.key !== name) return [];
      return [{ key: name, bytes: found.manifest.bytes, usedAt: found.usedAt }];
    }),
    leftovers: staged.names.flatMap((name) => {
      const key = stagingPattern.exec(name)?.[1];
      if (key === undefined || store.isLocked(key) || !wasMadeFor(store, name, key)) return [];
      return [{ name, key }];
    }),
    complete: kept.complete && staged.complete,
  };
}

/** Whether a complete snapshot bears this key. */
export function hasSnapshot(store: SnapshotStore, key: string): boolean {
  const found = manifestIn(store.snapshots, key)?.manifest;
  return found?.state === 'complete' && found.key === key;
}

/** A folder without a manifest is a worker's only if that had not come to write it: then it is empty. */
function wasMadeFor({ staging }: SnapshotStore, name: string, key: string): boolean {
  const found = manifestIn(staging, name);
  if (found !== undefined) return found.manifest.key === key;
  return within(staging, name, (folder) => namesOf(folder, 0).complete) ?? false;
}

function manifestIn(parent: Directory, name: string): ReadManifest | undefined {
  return within(parent, name, readManifest);
}

/** `undefined` where nothing bears the name, or what bears it is no folder. */
function within<T>(parent: Directory, name: string, look: (folder: Directory) => T): T | undefined {
  let folder: Directory;
  try {
    folder = parent.child(name);
  } catch (error) {
    if (error instanceof FileRefusal) return undefined;
    throw error;
  }
  try {
    return look(folder);
  } finally {
    folder.close();
  }
}
