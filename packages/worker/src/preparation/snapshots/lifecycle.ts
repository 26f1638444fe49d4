import type { SnapshotLifecycle } from '../../environment/setup.js';

/** One that the store keeps. */
export interface KeptSnapshot {
  readonly key: string;
  readonly bytes: number;
  /** When it was last made, restored or found good, in milliseconds since 1970. */
  readonly usedAt: number;
}

export type PruningReason = 'unused for longer than retentionMs' | 'over maxEntries' | 'over maxStoreBytes';

export interface Pruning {
  readonly lifecycle: SnapshotLifecycle;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Never removed. */
  readonly inUse: ReadonlySet<string>;
  /** What is to come. */
  readonly room: { readonly entries: number; readonly bytes: number };
}

/**
 * Decides which snapshots go, those that were used longest ago first: the expired ones, then as many as are too many or
 * too large together with what is to come. Says whether the rest is within the limits.
 *
 * @param remove removes one, or says that it cannot go now.
 */
export function prune(
  snapshots: readonly KeptSnapshot[],
  { lifecycle, now, inUse, room }: Pruning,
  remove: (snapshot: KeptSnapshot, why: PruningReason) => boolean,
): boolean {
  let entries = room.entries + snapshots.length;
  let bytes = room.bytes + snapshots.reduce((sum, each) => sum + each.bytes, 0);
  const reasonFor = ({ usedAt }: KeptSnapshot): PruningReason | undefined => {
    if (now - usedAt > lifecycle.retentionMs) return 'unused for longer than retentionMs';
    if (entries > lifecycle.maxEntries) return 'over maxEntries';
    return bytes > lifecycle.maxStoreBytes ? 'over maxStoreBytes' : undefined;
  };
  for (const snapshot of [...snapshots].sort((one, other) => one.usedAt - other.usedAt)) {
    const why = reasonFor(snapshot);
    if (why === undefined || inUse.has(snapshot.key) || !remove(snapshot, why)) continue;
    entries -= 1;
    bytes -= snapshot.bytes;
  }
  return entries <= lifecycle.maxEntries && bytes <= lifecycle.maxStoreBytes;
}
