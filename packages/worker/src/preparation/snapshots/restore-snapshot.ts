import { renameSync } from 'node:fs';
import type { Directory } from '../../files/directory.js';
import { FileRefusal } from '../../files/refusal.js';
import { cloneTree } from './clone-tree.js';
import { closeDeclared, openAbsent, openDeclared, type DeclaredFolder } from './declared-folders.js';
import { discardSnapshot } from './maintenance.js';
import { makeFolder } from './make-folder.js';
import { readManifest, type CompleteManifest } from './manifest.js';
import { clearRestoring, restoringName } from './restoring-folder.js';
import { SnapshotRefusal } from './snapshot-refusal.js';
import type { SnapshotStore } from './snapshot-store.js';
import { syncFileSystem } from './sync-file-system.js';
import { TreeTally, type TreeBounds } from './tree-tally.js';

export interface RestoreSetting {
  readonly store: SnapshotStore;
  readonly key: string;
  /** The root. */
  readonly top: Directory;
  /** The folders to restore, relative to the root. */
  readonly paths: readonly string[];
  readonly bounds: TreeBounds;
  readonly signal: AbortSignal;
}

/**
 * Restores what an earlier setup installed, if a snapshot of it is kept and each declared folder is absent; says whether
 * it did. Nothing that is there is replaced. The snapshot is held against its manifest as it is copied, and only a
 * whole copy is put in place. The caller has the right to the snapshot.
 *
 * @throws {SnapshotRefusal} for a snapshot that is not what its maker kept, which is removed, and for one that is larger
 *   than the bounds. And whatever the file system answers. Nothing is put in place then.
 */
export async function restoreSnapshot(setting: RestoreSetting): Promise<boolean> {
  const { top, paths } = setting;
  clearRestoring(top);
  const declared = openAbsent(top, paths);
  if (declared === undefined) return false;
  try {
    return await restoreAbsent(setting, declared);
  } finally {
    closeDeclared(declared);
    clearRestoring(top);
  }
}

/** Takes away what was restored and turned out not to be good. */
export function takeAway(top: Directory, paths: readonly string[]): void {
  clearRestoring(top);
  const declared = openDeclared(top, paths);
  const aside = makeFolder(top, restoringName);
  try {
    for (const [index, { parent, name }] of declared.entries()) {
      if (parent.look(name) !== undefined) renameSync(parent.place(name), aside.place(String(index)));
    }
  } finally {
    aside.close();
    closeDeclared(declared);
    clearRestoring(top);
  }
}

async function restoreAbsent(setting: RestoreSetting, declared: readonly DeclaredFolder[]): Promise<boolean> {
  const { store, key, signal } = setting;
  if (store.snapshots.look(key) === undefined) return false;
  const snapshot = store.snapshots.child(key);
  try {
    const manifest = manifestOf(snapshot, setting);
    if (manifest === undefined) return false;
    await restoreFrom(snapshot, manifest, declared, setting);
    return true;
  } catch (error) {
    if (!(error instanceof DamagedSnapshot)) throw error;
    await discardSnapshot(store, key, signal);
    throw error;
  } finally {
    snapshot.close();
  }
}

/** `undefined` where no worker made it, or of other folders. */
function manifestOf(
  snapshot: Directory,
  { key, paths, bounds }: RestoreSetting,
): CompleteManifest | undefined {
  const manifest = readManifest(snapshot)?.manifest;
  if (manifest?.state !== 'complete' || manifest.key !== key) return undefined;
  if (manifest.paths.join('\n') !== paths.join('\n')) return undefined;
  if (manifest.bytes <= bounds.maxBytes && manifest.entries <= bounds.maxFiles) return manifest;
  throw new SnapshotRefusal(
    `It has ${manifest.bytes} bytes and ${manifest.entries} files and folders, more than maxBytes or maxFiles.`,
  );
}

class DamagedSnapshot extends SnapshotRefusal {
  override readonly name = 'DamagedSnapshot';
}

async function restoreFrom(
  snapshot: Directory,
  manifest: CompleteManifest,
  declared: readonly DeclaredFolder[],
  { top, bounds, signal }: RestoreSetting,
): Promise<void> {
  const tally = new TreeTally(bounds);
  const aside = makeFolder(top, restoringName);
  try {
    for (const [index, { path }] of declared.entries()) {
      await copyKept(snapshot, aside, { name: String(index), path }, { tally, signal });
    }
    const { digest } = tally.summary();
    if (digest !== manifest.digest) {
      throw new DamagedSnapshot('It is not what was kept: names, sizes, modes or links have changed since.');
    }
    await syncFileSystem(aside);
    putInPlace(aside, declared);
  } finally {
    aside.close();
  }
}

async function copyKept(
  snapshot: Directory,
  aside: Directory,
  { name, path }: { readonly name: string; readonly path: string },
  setting: { readonly tally: TreeTally; readonly signal: AbortSignal },
): Promise<void> {
  const target = makeFolder(aside, name);
  try {
    const source = snapshot.child(name);
    try {
      await cloneTree(source, target, path, setting);
    } finally {
      source.close();
    }
  } catch (error) {
    // None of it can have been so when it was kept.
    if (!(error instanceof SnapshotRefusal || error instanceof FileRefusal)) throw error;
    throw new DamagedSnapshot(`It is not what was kept. ${error.message}`, { cause: error });
  } finally {
    target.close();
  }
}

/** All of them or none. */
function putInPlace(aside: Directory, declared: readonly DeclaredFolder[]): void {
  const placed: { readonly from: string; readonly to: string }[] = [];
  try {
    for (const [index, { parent, name }] of declared.entries()) {
      const move = { from: aside.place(String(index)), to: parent.place(name) };
      renameSync(move.from, move.to);
      placed.push(move);
    }
  } catch (error) {
    for (const { from, to } of placed) renameSync(to, from);
    throw error;
  }
}
