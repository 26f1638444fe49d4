import { rmSync } from 'node:fs';
import type { RepositorySetup } from '../environment/setup.js';
import type { WorktreeIdentity } from '../lanes/verify.js';
import { worktreeMark } from '../lanes/worktree-mark.js';
import { setupHash } from './setup-key.js';
import {
  readRecords,
  worktreeFolder,
  writeRecord,
  type EndedRecord,
  type FailedRecord,
  type FaultedRecord,
  type SetupRecord,
} from './setup-record.js';
import { WaitingCalls } from './waiting-calls.js';

/** How far a worktree is. `unready`: its setup has not run, or nobody knows how far it came. */
export type Readiness =
  | { readonly state: 'unready' }
  | { readonly state: 'ready' }
  | { readonly state: 'failed'; readonly record: FailedRecord };

/** A worktree as it has just verified. */
export interface VerifiedWorktree {
  readonly name: string;
  readonly identity: WorktreeIdentity;
}

/** How long the logs of a worktree that is no more are kept, in milliseconds. */
const keptAfterRemovalMs = 7 * 24 * 60 * 60 * 1000;

const unready: Readiness = { state: 'unready' };
const ready: Readiness = { state: 'ready' };

/**
 * How far the worktrees of one repository are with its setup. Kept in the worker's state folder, over its end; only
 * the holder of the root's lock opens it. A look costs no access to the disk.
 */
export class SetupStates {
  readonly setup: RepositorySetup;
  readonly #stateDir: string;
  readonly #hash: string;
  readonly #records: Map<string, SetupRecord>;
  readonly #running = new Map<string, Promise<EndedRecord>>();
  readonly #waiting = new WaitingCalls();
  /** Worktrees whose setup is to run without a command that waits for it. */
  readonly #wanted = new Set<string>();
  /** The worktrees of the last look, as `worktreeBirths` tells them apart. */
  #seen: ReadonlyMap<string, string>;
  /** Programs that a setup left running, until somebody is told. */
  readonly #leftRunning = new Map<string, readonly string[]>();

  private constructor(setup: RepositorySetup, stateDir: string, worktrees: ReadonlyMap<string, string>) {
    this.setup = setup;
    this.#stateDir = stateDir;
    this.#hash = setupHash(setup);
    this.#records = new Map(readRecords(stateDir));
    this.#seen = worktrees;
    for (const [name, { state }] of this.#records) {
      // No run outlives its worker, and nobody knows how far that one came.
      const isEnded = state === 'ready' || state === 'failed';
      if (!isEnded && this.#seen.has(name)) this.#wanted.add(name);
    }
  }

  /**
   * Opens what an earlier worker knew.
   *
   * @param worktrees those that are there now, each with what tells it from an earlier one of its name.
   */
  static open(setup: RepositorySetup, stateDir: string, worktrees: ReadonlyMap<string, string>): SetupStates {
    const states = new SetupStates(setup, stateDir, worktrees);
    states.#forgetRemoved();
    return states;
  }

  of({ name, identity }: VerifiedWorktree): Readiness {
    const record = this.#records.get(name);
    if (record?.setup !== this.#hash || record.worktree !== worktreeMark(identity)) return unready;
    switch (record.state) {
      case 'ready':
        return ready;
      case 'failed':
        return { state: 'failed', record };
      case 'running':
      case 'interrupted':
      case 'faulted':
        return unready;
    }
  }

  /** What the setup of a worktree left running; told once, to the first command there. */
  takeLeftRunning(name: string): readonly string[] {
    const left = this.#leftRunning.get(name) ?? [];
    this.#leftRunning.delete(name);
    return left;
  }

  /**
   * A call has reached an unready worktree. Returns the run that it waited for and that could not begin, to each call
   * once; else it waits for a run from now on.
   */
  reached(name: string, call: string): FaultedRecord | undefined {
    return this.#waiting.reached(name, call);
  }

  /** Worktrees whose last run has failed, some of which may be gone or others by now. */
  get failed(): readonly string[] {
    return [...this.#records].flatMap(([name, { state }]) => (state === 'failed' ? [name] : []));
  }

  /** The worktrees whose setup is to begin as soon as it may. */
  get wanted(): readonly string[] {
    return [...this.#wanted];
  }

  /**
   * Tells which worktrees are there now, and wants the setup of those that were not there at the last look, or that
   * were made anew since.
   */
  look(worktrees: ReadonlyMap<string, string>): void {
    for (const [name, birth] of worktrees) if (this.#seen.get(name) !== birth) this.#wanted.add(name);
    this.#seen = worktrees;
  }

  noLongerWanted(name: string): void {
    this.#wanted.delete(name);
  }

  /** Runs the setup of a worktree, or waits for the run that is under way there: never two at once. */
  run(
    worktree: VerifiedWorktree,
    begin: (key: { readonly worktree: string; readonly setup: string }) => Promise<EndedRecord>,
  ): Promise<EndedRecord> {
    const { name, identity } = worktree;
    this.#wanted.delete(name);
    const underWay = this.#running.get(name);
    if (underWay !== undefined) return underWay;
    const run = begin({ worktree: worktreeMark(identity), setup: this.#hash })
      .then((record) => {
        if (record.state === 'faulted') this.#waiting.faulted(name, record);
        else if (record.state !== 'interrupted') this.#waiting.ended(name);
        return record;
      })
      .finally(() => {
        this.#running.delete(name);
      });
    this.#running.set(name, run);
    return run;
  }

  /** Resolves when the record is on disk: only from then on it counts. */
  async keep(name: string, record: SetupRecord): Promise<void> {
    await writeRecord(this.folderOf(name), record);
    this.#records.set(name, record);
    if (record.state === 'ready') this.#leftRunning.set(name, record.leftRunning);
  }

  /** What could not be kept counts for as long as this worker lives. */
  suppose(name: string, record: FailedRecord | FaultedRecord): void {
    this.#records.set(name, record);
  }

  /** Wants the setup of a worktree anew, whatever came of it before; `false` while it runs, or where it never ran. */
  async retry(name: string): Promise<boolean> {
    const record = this.#records.get(name);
    if (record === undefined || this.#running.has(name)) return false;
    const { version, lane, worktree, setup, call, startedAt } = record;
    const begun = { version, lane, worktree, setup, call, startedAt };
    const again = { ...begun, state: 'interrupted', endedAt: Date.now() } as const;
    // Commands wait from now on; on disk, so that a worker that ends before the run still knows of it.
    this.#records.set(name, again);
    this.#wanted.add(name);
    await writeRecord(this.folderOf(name), again);
    return true;
  }

  /** Where the logs of a worktree's runs are. */
  folderOf(name: string): string {
    return worktreeFolder(this.#stateDir, name);
  }

  #forgetRemoved(): void {
    for (const [name, record] of this.#records) {
      const since = record.state === 'running' ? record.startedAt : record.endedAt;
      if (this.#seen.has(name) || Date.now() - since < keptAfterRemovalMs) continue;
      this.#records.delete(name);
      rmSync(this.folderOf(name), { recursive: true, force: true });
    }
  }
}
