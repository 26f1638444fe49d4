import type { SnapshotLifecycle } from '../../environment/setup.js';
import { prune, type KeptSnapshot, type PruningReason } from './lifecycle.js';
import { removeLeftover, removeUnused } from './maintenance.js';
import { SnapshotStore } from './snapshot-store.js';
import { lookThrough } from './store-content.js';

export interface StoreToPrune {
  /** Canonical path. */
  readonly path: string;
  readonly lifecycle: SnapshotLifecycle;
  /** Keys of snapshots of what is set up now; they stay. */
  readonly inUse: ReadonlySet<string>;
}

/** What a store has, and what goes. */
export interface StoreReport {
  readonly path: string;
  readonly kept: readonly KeptSnapshot[];
  readonly removed: readonly (KeptSnapshot & { readonly why: PruningReason })[];
  /** What an end in the midst of making or removing a snapshot left, all of which goes. */
  readonly leftovers: number;
  /** Whether one look went through all that is there (`scanLimit`). */
  readonly complete: boolean;
}

/**
 * Says what the lifecycle of a store does not keep and, with `apply`, removes it. What is being made or restored stays,
 * and so does everything that no worker of this user made.
 *
 * @throws {SnapshotRefusal} for a store that cannot be used.
 */
export async function pruneStore(
  { path, lifecycle, inUse }: StoreToPrune,
  { apply, signal }: { readonly apply: boolean; readonly signal: AbortSignal },
): Promise<StoreReport> {
  const store = SnapshotStore.openUsed(path);
  if (store === undefined) return { path, kept: [], removed: [], leftovers: 0, complete: true };
  try {
    // Whoever only looks waits for nobody.
    const maintenance = apply ? await store.lockMaintenance(signal) : undefined;
    try {
      const { snapshots, leftovers, complete } = lookThrough(store, lifecycle.scanLimit);
      const removed: (KeptSnapshot & { why: PruningReason })[] = [];
      const room = { entries: 0, bytes: 0 };
      prune(snapshots, { lifecycle, now: Date.now(), inUse, room }, (snapshot, why) => {
        const goes = apply ? removeUnused(store, snapshot.key) : !store.isLocked(snapshot.key);
        if (goes) removed.push({ ...snapshot, why });
        return goes;
      });
      const gone = new Set(removed.map(({ key }) => key));
      const cleared = leftovers.filter((leftover) => !apply || removeLeftover(store, leftover));
      return {
        path,
        kept: snapshots.filter(({ key }) => !gone.has(key)),
        removed,
        leftovers: cleared.length,
        complete,
      };
    } finally {
      maintenance?.close();
    }
  } finally {
    store.close();
  }
}
