import { basename } from 'node:path';
import { Directory } from '../files/directory.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import { auditCheckout } from '../sandbox/audit/audit.js';
import type { Gitlink } from '../sandbox/audit/gitlinks.js';
import { takeSnapshot, type Snapshot } from '../sandbox/audit/snapshot.js';
import { gitLocks } from '../sandbox/git-locks.js';
import { clearIndexLock, hasIndexLock } from '../sandbox/index-lock.js';
import type { LaneFacts } from '../sandbox/lane-facts.js';
import type { LaneSandbox } from '../sandbox/lane-sandbox.js';
import { removePlantedRefs } from '../sandbox/planted-refs.js';
import { dropGitlinks } from './drop-gitlinks.js';

/** What must be on disk before something of a call runs. */
export interface StartRecord {
  /**
   * The command itself, its going on after a pause, or a walled Git that puts the checkout's index right when the
   * command has ended or is paused.
   */
  readonly stage: 'command' | 'resume' | 'repair';
  readonly init: ProcessIdentity;
  /** At the checkout: what an audit after a crash compares with. */
  readonly snapshot?: Snapshot | undefined;
}

export interface CaredLane {
  /** Verified just before; its descriptors stay open until it has been looked after. */
  readonly lane: LaneFacts;
  /** The wall in which something runs there, and in which the checkout's index is put right. */
  readonly sandbox: LaneSandbox;
  /** Absolute path of the machine's own Git. */
  readonly realGit: string;
  readonly journalId: string;
  /** Writes and syncs the record of a repair. */
  readonly journalStart: (record: StartRecord) => Promise<void>;
  /** Called right before a repair may run. */
  readonly onStart?: ((init: ProcessIdentity) => void) | undefined;
  /**
   * Looks after what lies in the lane and is a lane of its own; told whether what ran was stopped. Returns notices.
   */
  readonly lookBeneath?: ((wasStopped: boolean) => Promise<readonly string[]>) | undefined;
  /** The locks of Git in what lies in the lane and is a lane of its own. */
  readonly locksBeneath?: (() => readonly string[]) | undefined;
}

/** Whether what ran in a lane is gone, and whether it left by itself. */
export interface HowItStands {
  readonly wasStopped: boolean;
  /** `false`: something may still write there. */
  readonly gone: boolean;
}

/**
 * What belongs around whatever runs in a lane: at the checkout a snapshot before and the audit after; links and pipes
 * among refs and metadata are removed, and the index lock of a Git that was killed is cleared.
 */
export class LaneCare {
  readonly #cared: CaredLane;
  #snapshot: Snapshot | undefined;
  #wasLocked = false;
  #locksBefore: ReadonlySet<string> = new Set();
  #quarantine: string | undefined;

  constructor(cared: CaredLane) {
    this.#cared = cared;
  }

  /** At the checkout: how it stood before. */
  get snapshot(): Snapshot | undefined {
    return this.#snapshot;
  }

  /** Why the lane may not be used until that is settled. */
  get quarantine(): string | undefined {
    return this.#quarantine;
  }

  /** Right before something runs. */
  lookBefore(): void {
    const { lane } = this.#cared;
    const gitDirectory = gitDirectoryOf(lane);
    this.#wasLocked = gitDirectory !== undefined && hasIndexLock(gitDirectory);
    if (lane.kind === 'checkout') this.#snapshot = takeSnapshot(lane);
  }

  /** Remembers the locks of Git that lie there now: they are somebody else's. */
  noteLocks(): void {
    this.#locksBefore = new Set(this.#locks());
  }

  /** The locks of Git that were not there before: what runs in the lane holds them, or a sibling does for a moment. */
  newLocks(): readonly string[] {
    return this.#locks().filter((path) => !this.#locksBefore.has(path));
  }

  /** When nothing that ran can go on; returns what is to be said of it, each a sentence. */
  async lookAfter({ wasStopped, gone }: HowItStands): Promise<string[]> {
    if (!gone) {
      this.#quarantine = 'The processes of the command could not be shown to be gone.';
      return this.#closed();
    }
    const notices = [
      ...(wasStopped ? this.#clearLock() : []),
      ...this.#sweepRefs(),
      ...((await this.#cared.lookBeneath?.(wasStopped)) ?? []),
    ];
    if (this.#snapshot === undefined) return [...notices, ...this.#closed()];
    const audit = auditCheckout(this.#snapshot);
    this.#quarantine ??= audit.quarantine;
    const dropped = audit.strayGitlinks.length === 0 ? [] : await this.#dropGitlinks(audit.strayGitlinks);
    return [...notices, ...audit.notices, ...dropped, ...this.#closed()];
  }

  #closed(): string[] {
    return this.#quarantine === undefined
      ? []
      : [`${this.#quarantine} The lane is closed until that is settled.`];
  }

  #clearLock(): string[] {
    const gitDirectory = gitDirectoryOf(this.#cared.lane);
    // A lock from before the call is somebody else's.
    if (gitDirectory === undefined || this.#wasLocked || !clearIndexLock(gitDirectory)) return [];
    return ['The index lock that the stopped Git left behind has been removed.'];
  }

  #sweepRefs(): readonly string[] {
    return this.#inRepository([], (git, metadata) => {
      const { notices, quarantine } = removePlantedRefs(git, metadata);
      this.#quarantine = quarantine;
      return notices;
    });
  }

  #locks(): readonly string[] {
    return [...this.#inRepository([], gitLocks), ...(this.#cared.locksBeneath?.() ?? [])];
  }

  /** Looks at the whole Git directory; told the name of the only worktree's metadata that the lane may write to. */
  #inRepository<T>(none: T, look: (git: Directory, metadata: string | undefined) => T): T {
    const { lane, sandbox } = this.#cared;
    const descriptor = lane.kind === 'worktree' ? sandbox.descriptors.get('commonDir') : gitDirectoryOf(lane);
    if (descriptor === undefined) return none;
    const git = Directory.open(`/proc/self/fd/${descriptor}`);
    try {
      return look(git, lane.kind === 'worktree' ? basename(lane.metadataDir) : undefined);
    } finally {
      git.close();
    }
  }

  async #dropGitlinks(gitlinks: readonly Gitlink[]): Promise<string[]> {
    const { sandbox, realGit, journalId, journalStart, onStart } = this.#cared;
    const { dropped, sentence } = await dropGitlinks({
      gitlinks,
      sandbox,
      realGit,
      journalId,
      journalStart: (init) => journalStart({ stage: 'repair', init, snapshot: this.#snapshot }),
      onStart,
    });
    if (dropped) return [sentence];
    this.#quarantine = sentence;
    return [];
  }
}

function gitDirectoryOf(lane: LaneFacts): number | undefined {
  if (lane.kind === 'plain') return undefined;
  return lane.kind === 'worktree' ? lane.descriptors.metadata : lane.descriptors.git;
}
