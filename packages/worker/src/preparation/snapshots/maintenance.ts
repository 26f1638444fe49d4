import { lutimesSync } from 'node:fs';
import { prune, type Pruning } from './lifecycle.js';
import { manifestName } from './manifest.js';
import { SnapshotRefusal } from './snapshot-refusal.js';
import type { SnapshotStore } from './snapshot-store.js';
import { hasSnapshot, lookThrough, type Leftover } from './store-content.js';

/**
 * Removes what the lifecycle does not keep, and what was left half-made. The caller has the right to maintain the store.
 *
 * @throws {SnapshotRefusal} where there is no room for what is to come.
 */
export function makeRoom(store: SnapshotStore, pruning: Omit<Pruning, 'now'>): void {
  const { lifecycle, room } = pruning;
  const { snapshots, leftovers, complete } = lookThrough(store, lifecycle.scanLimit);
  for (const leftover of leftovers) removeLeftover(store, leftover);
  const fits = prune(snapshots, { ...pruning, now: Date.now() }, ({ key }) => removeUnused(store, key));
  if (room.entries === 0) return;
  if (!complete) {
    throw new SnapshotRefusal(
      `The store "${store.path}" has more names than one look goes through (scanLimit); clear it.`,
    );
  }
  if (!fits) {
    throw new SnapshotRefusal(
      `The store "${store.path}" has no room for ${room.bytes} bytes more (maxStoreBytes, maxEntries) beside what is in use.`,
    );
  }
}

/** Removes a snapshot unless somebody uses it; says whether it did. The caller has the right to maintain the store. */
export function removeUnused(store: SnapshotStore, key: string): boolean {
  const lock = store.tryLock(key);
  if (lock === undefined) return false;
  try {
    store.remove(key);
  } catch (error) {
    lock.close();
    throw error;
  }
  lock.discard();
  return true;
}

/** Removes what was left half-made, unless somebody makes it after all; as `removeUnused`. */
export function removeLeftover(store: SnapshotStore, { name, key }: Leftover): boolean {
  const lock = store.tryLock(key);
  if (lock === undefined) return false;
  try {
    store.clearStaging(name);
  } catch (error) {
    lock.close();
    throw error;
  }
  lock.discard();
  return true;
}

/** Removes a snapshot that is not good. The caller has the right to it. */
export async function discardSnapshot(store: SnapshotStore, key: string, signal: AbortSignal): Promise<void> {
  const maintenance = await store.lockMaintenance(signal);
  try {
    if (hasSnapshot(store, key)) store.remove(key);
  } finally {
    maintenance.close();
  }
}

/** Counts as a use of a snapshot, where there is one. The caller has the right to maintain the store. */
export function markUsed(store: SnapshotStore, key: string): void {
  if (!hasSnapshot(store, key)) return;
  const folder = store.snapshots.child(key);
  try {
    const now = new Date();
    lutimesSync(folder.place(manifestName), now, now);
  } finally {
    folder.close();
  }
}
