import { CodelanesError } from '@codelanes/protocol';
import { takeSnapshot, type Snapshot } from '../sandbox/audit/snapshot.js';
import { clearIndexLock, hasIndexLock } from '../sandbox/index-lock.js';
import { openLane, type OpenedLane } from './opened-lane.js';
import { settleOwedAudit, type AuditSetting } from './owed-audit.js';
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
   * Looks at them right before the command. One that does not verify is left out: no call can use it either.
   *
   * @throws {CodelanesError} `COMMAND_UNAVAILABLE` naming a repository that cannot be looked through.
   */
  static look(setting: AuditSetting, lane: readonly string[]): RepositoriesBeneath {
    const watched = repositoriesBeneath(setting.root, lane).flatMap((tree) => watchedOf(setting.root, tree));
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

function watchedOf(root: ServedRoot, tree: ServedRepository): Watched[] {
  const watched = withLane(root, tree, ({ facts, gitDescriptor }) => {
    if (facts.kind !== 'checkout' || gitDescriptor === undefined) return undefined;
    return {
      tree,
      snapshot: snapshotOf(tree, () => takeSnapshot(facts)),
      wasLocked: hasIndexLock(gitDescriptor),
    };
  });
  return watched === undefined ? [] : [watched];
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
