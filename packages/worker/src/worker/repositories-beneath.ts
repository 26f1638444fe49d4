import { CodelanesError } from '@codelanes/protocol';
import { Directory } from '../files/directory.js';
import { takeSnapshot, type Snapshot } from '../sandbox/audit/snapshot.js';
import { gitLocks } from '../sandbox/git-locks.js';
import { clearIndexLock, hasIndexLock } from '../sandbox/index-lock.js';
import { openLane, type OpenedLane } from './opened-lane.js';
import { settleOwedAudit, type AuditSetting } from './owed-audit.js';
import { openPinned } from './pinned-checkout.js';
import type { ServedRoot } from './served-root.js';
import { repositoriesBeneath, type ServedRepository } from './served-tree.js';
import { forgetSnapshot, keepSnapshot } from './snapshot-file.js';
import { sweepRefs } from './swept-tree.js';

interface Watched {
  readonly tree: ServedRepository;
  readonly snapshot: Snapshot;
  /** A lock from before the call is somebody else's. */
  readonly wasLocked: boolean;
}

/**
 * The repositories beneath a lane while a command runs that has all of them: what it leaves in their Git
 * directories is audited as after a command in each of them, since the operator's Git and later calls meet it there.
 */
export class RepositoriesBeneath {
  readonly #setting: AuditSetting;
  readonly #watched: readonly Watched[];

  private constructor(setting: AuditSetting, watched: readonly Watched[]) {
    this.#setting = setting;
    this.#watched = watched;
  }

  /**
   * Looks at them right before the command, at those that do not verify too.
   *
   * @throws {CodelanesError} `COMMAND_UNAVAILABLE` naming a repository that cannot be looked through, or is not there.
   */
  static look(setting: AuditSetting, lane: readonly string[]): RepositoriesBeneath {
    const watched = repositoriesBeneath(setting.root, lane).map(watchedOf);
    return new RepositoriesBeneath(setting, watched);
  }

  /** Resolves when the snapshots are on disk: from then on an audit is owed. */
  async keep(): Promise<void> {
    for (const { tree, snapshot } of this.#watched) await keepSnapshot(tree.stateDir, snapshot);
  }

  /** Nothing ran. */
  forget(): void {
    for (const { tree } of this.#watched) forgetSnapshot(tree.stateDir);
  }

  /** The locks of Git that lie in them, as paths beneath the lane. */
  locks(): readonly string[] {
    return this.#watched.flatMap(({ tree }) =>
      (withLane(this.#setting.root, tree, locksIn) ?? []).map((path) => `${tree.repository}/.git/${path}`),
    );
  }

  /** Audits each, when nothing of the command runs any more; says what was put right or is closed. */
  async audit(wasStopped: boolean): Promise<readonly string[]> {
    const notices: string[] = [];
    for (const watched of this.#watched) {
      const said = await this.#auditOne(watched, wasStopped);
      notices.push(...said.map((notice) => `In "${watched.tree.repository}": ${notice}`));
    }
    return notices;
  }

  async #auditOne({ tree, wasLocked }: Watched, wasStopped: boolean): Promise<readonly string[]> {
    const { root } = this.#setting;
    const unlocked = wasStopped && !wasLocked && withLane(root, tree, clearLock) === true;
    const { notices, quarantine } = sweepRefs(tree);
    if (quarantine !== undefined) await root.quarantine.add(tree.lane, quarantine, []);
    return [
      ...(unlocked ? ['The index lock that the stopped Git left behind has been removed.'] : []),
      ...notices,
      ...(quarantine === undefined ? [] : [quarantine]),
      ...(await settleOwedAudit(this.#setting, tree)),
    ];
  }
}

function watchedOf(tree: ServedRepository): Watched {
  const checkout = openPinned(tree);
  try {
    return {
      tree,
      snapshot: snapshotOf(tree, () => takeSnapshot(checkout.facts)),
      wasLocked: hasIndexLock(checkout.facts.descriptors.git),
    };
  } finally {
    checkout.close();
  }
}

function snapshotOf(tree: ServedRepository, take: () => Snapshot): Snapshot {
  try {
    return take();
  } catch (error) {
    if (!CodelanesError.is(error)) throw error;
    throw new CodelanesError('COMMAND_UNAVAILABLE', `In "${tree.repository}": ${error.message}`, {
      cause: error,
    });
  }
}

function locksIn({ gitDescriptor }: OpenedLane): readonly string[] {
  if (gitDescriptor === undefined) return [];
  const git = Directory.open(`/proc/self/fd/${gitDescriptor}`);
  try {
    return gitLocks(git);
  } finally {
    git.close();
  }
}

function clearLock({ gitDescriptor }: OpenedLane): boolean {
  return gitDescriptor !== undefined && clearIndexLock(gitDescriptor);
}

/** What a look at a repository finds; `undefined` where it does not verify. */
function withLane<T>(root: ServedRoot, tree: ServedRepository, look: (lane: OpenedLane) => T): T | undefined {
  let lane: OpenedLane;
  try {
    lane = openLane(root, tree.lane);
  } catch (error) {
    if (CodelanesError.is(error)) return undefined;
    throw error;
  }
  try {
    return look(lane);
  } finally {
    lane.close();
  }
}
