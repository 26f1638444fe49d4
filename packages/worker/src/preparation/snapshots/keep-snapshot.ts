import type { SnapshotLifecycle } from '../../environment/setup.js';
import type { Directory } from '../../files/directory.js';
import { cloneTree } from './clone-tree.js';
import { closeDeclared, openDeclared } from './declared-folders.js';
import { makeFolder } from './make-folder.js';
import { writeManifest } from './manifest.js';
import { makeRoom } from './maintenance.js';
import type { SnapshotStore } from './snapshot-store.js';
import { hasSnapshot } from './store-content.js';
import { syncFileSystem } from './sync-file-system.js';
import { TreeTally, type TreeBounds, type TreeSummary } from './tree-tally.js';

export interface KeepSetting {
  readonly store: SnapshotStore;
  readonly key: string;
  /** The root. */
  readonly top: Directory;
  /** The folders to keep, relative to the root. */
  readonly paths: readonly string[];
  readonly bounds: TreeBounds;
  readonly lifecycle: SnapshotLifecycle;
  /** Only what was made since then is kept, as `CloneSetting` has it. */
  readonly bornSince: bigint;
  /** Throws where what was copied is not what the key names any more. */
  readonly confirm: () => void;
  readonly signal: AbortSignal;
}

/**
 * Keeps what a setup installed. At every moment, a crash included, the store has all of a snapshot or nothing: it is
 * made beside the others, synced, and renamed. One that is there already stays as it is. The
 * caller has the right to the snapshot.
 *
 * @throws {SnapshotRefusal} where it may not be kept, and whatever the file system answers; nothing is kept then.
 */
export async function keepSnapshot(setting: KeepSetting): Promise<void> {
  const { store, key } = setting;
  if (hasSnapshot(store, key)) return;
  const { name, folder } = store.beginStaging(key);
  let published = false;
  try {
    await writeManifest(folder, { version: 1, state: 'unfinished', key });
    const summary = await copyInstalled(setting, folder);
    setting.confirm();
    const { paths } = setting;
    await writeManifest(folder, { version: 1, state: 'complete', key, paths, ...summary });
    await syncFileSystem(folder);
    await publish(setting, name, summary);
    published = true;
  } finally {
    folder.close();
    if (!published) store.clearStaging(name);
  }
}

async function copyInstalled(setting: KeepSetting, folder: Directory): Promise<TreeSummary> {
  const tally = new TreeTally(setting.bounds);
  const declared = openDeclared(setting.top, setting.paths);
  try {
    for (const [index, { path, parent, name }] of declared.entries()) {
      const source = parent.child(name);
      try {
        const target = makeFolder(folder, String(index));
        try {
          await cloneTree(source, target, path, { ...setting, tally });
        } finally {
          target.close();
        }
      } finally {
        source.close();
      }
    }
  } finally {
    closeDeclared(declared);
  }
  return tally.summary();
}

async function publish(
  { store, key, lifecycle, signal }: KeepSetting,
  staged: string,
  { bytes }: TreeSummary,
) {
  const maintenance = await store.lockMaintenance(signal);
  try {
    makeRoom(store, { lifecycle, inUse: new Set([key]), room: { entries: 1, bytes } });
    await store.publish(staged, key);
  } finally {
    maintenance.close();
  }
}
