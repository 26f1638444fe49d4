import { lstatSync, mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { findPrivate } from '../../environment/private-path.js';
import { UntrustedPath } from '../../environment/trusted-path.js';
import { Directory, sameFile } from '../../files/directory.js';
import { syncDirectory } from '../../files/parents.js';
import { isPrivateFolder } from '../private-file.js';
import { emptyFolder } from './empty-folder.js';
import { makeFolder } from './make-folder.js';
import { manifestName } from './manifest.js';
import { SnapshotRefusal } from './snapshot-refusal.js';
import { StoreLock } from './store-lock.js';

const folderNames = ['snapshots', 'staging', 'locks'] as const;
type FolderName = (typeof folderNames)[number];
const maintenanceLock = 'maintenance';

/**
 * The folder that keeps snapshots, held open. `snapshots` has the complete ones by their keys, `staging` what is being
 * made or removed, `locks` one file for each key and one for whoever changes which snapshots there are. Whoever takes
 * both locks takes that of the key first.
 */
export class SnapshotStore {
  readonly path: string;
  readonly #top: Directory;
  readonly #folders: Readonly<Record<FolderName, Directory>>;

  private constructor(path: string, top: Directory, folders: Readonly<Record<FolderName, Directory>>) {
    this.path = path;
    this.#top = top;
    this.#folders = folders;
  }

  /**
   * Opens a store; its folders are made where they are missing.
   *
   * @throws {SnapshotRefusal} where it is none of this user's alone.
   */
  static open(path: string): SnapshotStore {
    const top = openPrivate(path);
    try {
      for (const name of folderNames) mkdirSync(top.place(name), { recursive: true, mode: 0o700 });
      return new SnapshotStore(path, top, openFolders(top));
    } catch (error) {
      top.close();
      throw error;
    }
  }

  /** As `open`, but makes nothing: `undefined` for a store that has yet to be used. */
  static openUsed(path: string): SnapshotStore | undefined {
    const top = openPrivate(path);
    try {
      if (folderNames.every((name) => top.look(name) !== undefined)) {
        return new SnapshotStore(path, top, openFolders(top));
      }
    } catch (error) {
      top.close();
      throw error;
    }
    top.close();
    return undefined;
  }

  get snapshots(): Directory {
    return this.#folders.snapshots;
  }

  get staging(): Directory {
    return this.#folders.staging;
  }

  /**
   * Waits for the right to one snapshot.
   *
   * @throws {SnapshotRefusal} where another folder has taken the store's place meanwhile.
   */
  async lock(key: string, signal: AbortSignal): Promise<StoreLock> {
    return this.#unlessReplaced(await StoreLock.take(this.#folders.locks, key, signal));
  }

  /** Waits for the right to change which snapshots there are; as `lock`. */
  async lockMaintenance(signal: AbortSignal): Promise<StoreLock> {
    return this.#unlessReplaced(await StoreLock.take(this.#folders.locks, maintenanceLock, signal));
  }

  /** The right to one snapshot, if nobody has it. */
  tryLock(key: string): StoreLock | undefined {
    return StoreLock.tryTake(this.#folders.locks, key);
  }

  /** Whether somebody has the right to a snapshot now; leaves no trace. */
  isLocked(key: string): boolean {
    if (this.#folders.locks.look(key) === undefined) return false;
    const lock = this.tryLock(key);
    lock?.close();
    return lock === undefined;
  }

  /** Makes an empty folder in which a snapshot is to be made. */
  beginStaging(key: string): { readonly name: string; readonly folder: Directory } {
    const name = stagingName(key);
    return { name, folder: makeFolder(this.staging, name) };
  }

  /** Makes what was staged a snapshot, and survives a crash from then on. */
  async publish(staged: string, key: string): Promise<void> {
    renameSync(this.staging.place(staged), this.snapshots.place(key));
    await syncDirectory(this.snapshots);
    await syncDirectory(this.staging);
  }

  /** Takes a snapshot out of use at once, then removes it. The caller has the right to it. */
  remove(key: string): void {
    const name = stagingName(key);
    renameSync(this.snapshots.place(key), this.staging.place(name));
    this.clearStaging(name);
  }

  /** Removes what was staged; where not all can be removed, its manifest stays, by which it is known later. */
  clearStaging(name: string): void {
    const folder = this.staging.child(name);
    try {
      emptyFolder(folder, manifestName);
    } finally {
      folder.close();
    }
    rmdirSync(this.staging.place(name));
  }

  close(): void {
    for (const folder of Object.values(this.#folders)) folder.close();
    this.#top.close();
  }

  #unlessReplaced(lock: StoreLock): StoreLock {
    const now = lstatSync(this.path, { bigint: true, throwIfNoEntry: false });
    if (now !== undefined && sameFile(now, this.#top.stats)) return lock;
    lock.close();
    throw new SnapshotRefusal(`Another folder has taken the place of the store "${this.path}".`);
  }
}

function openPrivate(path: string): Directory {
  try {
    const top = Directory.open(findPrivate(path, 'folder').canonical);
    if (isPrivateFolder(top.stats)) return top;
    top.close();
  } catch (error) {
    if (!(error instanceof UntrustedPath)) throw error;
    throw new SnapshotRefusal(`The store of snapshots cannot be used. ${error.message}`, { cause: error });
  }
  throw new SnapshotRefusal(`The store "${path}" is not this user's alone; chown it and chmod 700 it.`);
}

function openFolders(top: Directory): Readonly<Record<FolderName, Directory>> {
  const opened: Directory[] = [];
  const openOne = (name: FolderName): Directory => {
    const folder = top.child(name);
    opened.push(folder);
    if (isPrivateFolder(folder.stats)) return folder;
    throw new SnapshotRefusal(`"${top.path()}/${name}" is not this user's alone; chown it and chmod 700 it.`);
  };
  try {
    return { snapshots: openOne('snapshots'), staging: openOne('staging'), locks: openOne('locks') };
  } catch (error) {
    for (const folder of opened) folder.close();
    throw error;
  }
}

function stagingName(key: string): string {
  return `${key}-${randomBytes(8).toString('hex')}`;
}
