import { defaultLifecycle, type EnvironmentSetup } from '../../environment/setup.js';
import type { Directory } from '../../files/directory.js';
import { tryCloning } from './cloning.js';
import { areAbsent } from './declared-folders.js';
import { keepSnapshot } from './keep-snapshot.js';
import { discardSnapshot, makeRoom, markUsed } from './maintenance.js';
import { restoreSnapshot, takeAway } from './restore-snapshot.js';
import { costOfSnapshot, SnapshotRefusal } from './snapshot-refusal.js';
import { SnapshotStore } from './snapshot-store.js';
import type { StoreLock } from './store-lock.js';
import type { TreeBounds } from './tree-tally.js';

type Reuse = NonNullable<EnvironmentSetup['reuse']>;

export interface SnapshotsSetting {
  /** The root. */
  readonly top: Directory;
  readonly reuse: Reuse & { readonly snapshot: NonNullable<Reuse['snapshot']> };
  /** Ends what is being copied. */
  readonly signal: AbortSignal;
  /** Told in a sentence why a snapshot is not kept or not restored: setup runs in full then, and nothing fails. */
  readonly note: (sentence: string) => void;
}

/** What keeping and restoring are given alike. */
interface Copying {
  readonly store: SnapshotStore;
  readonly top: Directory;
  readonly paths: readonly string[];
  readonly bounds: TreeBounds;
  readonly signal: AbortSignal;
}

/** The snapshots that the setup of one root keeps and restores. Whoever opens it closes it. */
export class RootSnapshots {
  readonly #setting: SnapshotsSetting;
  readonly #store: SnapshotStore;
  /** When it was opened, as the file system tells births. */
  readonly #openedAt: bigint;
  /** Held from the look for a snapshot until it is there, so that of several roots one sets up and the others restore. */
  #lock: StoreLock | undefined;

  private constructor(setting: SnapshotsSetting, store: SnapshotStore, openedAt: bigint) {
    this.#setting = setting;
    this.#store = store;
    this.#openedAt = openedAt;
  }

  /** To be opened before setup runs; `undefined`, and said why, where none can be kept. */
  static async open(setting: SnapshotsSetting): Promise<RootSnapshots | undefined> {
    return attempt(setting, 'Setup runs in full, and no snapshot is kept.', () => {
      const { top, reuse } = setting;
      const store = SnapshotStore.open(reuse.snapshot.store);
      try {
        const trial = tryCloning(top, reuse.inputs[0] ?? '', store.staging);
        if (!trial.can) throw new SnapshotRefusal(trial.sentence);
        return new RootSnapshots(setting, store, trial.now);
      } catch (error) {
        store.close();
        throw error;
      }
    });
  }

  /**
   * Whether the declared folders were absent and are there now, as an earlier setup made them. Waits for another root
   * that makes or restores the same meanwhile.
   */
  async restore(key: string): Promise<boolean> {
    const restored = await this.#attempt('No snapshot is restored.', async (copying) => {
      if (!areAbsent(copying.top, copying.paths)) return false;
      await this.#take(key);
      return restoreSnapshot({ ...copying, key });
    });
    this.#setting.signal.throwIfAborted();
    return restored ?? false;
  }

  /** Takes back what was restored, as its check did not hold, and forgets it. */
  async reject(key: string): Promise<void> {
    await this.#attempt(
      'The snapshot that its check refuses stays.',
      async ({ store, top, paths, signal }) => {
        takeAway(top, paths);
        await this.#take(key);
        await discardSnapshot(store, key, signal);
      },
    );
  }

  /**
   * Keeps what setup has made since this was opened.
   *
   * @param isCurrent whether the key still names what is there.
   */
  async keep(key: string, isCurrent: () => boolean): Promise<void> {
    const { lifecycle = defaultLifecycle } = this.#setting.reuse.snapshot;
    await this.#attempt('No snapshot is kept.', async (copying) => {
      await this.#take(key);
      const confirm = () => {
        if (!isCurrent()) throw new SnapshotRefusal('Inputs of its setup changed while it was copied.');
      };
      await keepSnapshot({ ...copying, key, lifecycle, bornSince: this.#openedAt, confirm });
    });
  }

  /** Tells the store that the snapshot of this key is in use, and removes what its lifecycle does not keep. */
  async maintain(key: string): Promise<void> {
    this.#release();
    const { lifecycle = defaultLifecycle } = this.#setting.reuse.snapshot;
    await this.#attempt('The store of snapshots is left as it is.', async ({ store, signal }) => {
      const maintenance = await store.lockMaintenance(signal);
      try {
        markUsed(store, key);
        makeRoom(store, { lifecycle, inUse: new Set([key]), room: { entries: 0, bytes: 0 } });
      } finally {
        maintenance.close();
      }
    });
  }

  close(): void {
    this.#release();
    this.#store.close();
  }

  async #take(key: string): Promise<void> {
    this.#lock ??= await this.#store.lock(key, this.#setting.signal);
  }

  #release(): void {
    this.#lock?.close();
    this.#lock = undefined;
  }

  #attempt<T>(otherwise: string, action: (copying: Copying) => Promise<T>): Promise<T | undefined> {
    const { top, signal, reuse } = this.#setting;
    const { paths, maxBytes, maxFiles } = reuse.snapshot;
    const copying = { store: this.#store, top, paths, bounds: { maxBytes, maxFiles }, signal };
    return attempt(this.#setting, otherwise, () => action(copying));
  }
}

/** What only costs a snapshot is said; what stops the worker, or is a fault of its own, is thrown. */
async function attempt<T>(
  { note, signal }: SnapshotsSetting,
  otherwise: string,
  action: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    const cost = signal.aborted ? 'The worker was stopped.' : costOfSnapshot(error);
    if (cost === undefined) throw error;
    note(`${otherwise} ${cost}`);
    return undefined;
  }
}
