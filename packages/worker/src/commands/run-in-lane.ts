import { basename } from 'node:path';
import { Directory } from '../files/directory.js';
import type { NetworkPolicy } from '../environment/network-policy.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import type { NetworkHost } from '../network/network-host.js';
import { auditCheckout } from '../sandbox/audit/audit.js';
import type { Gitlink } from '../sandbox/audit/gitlinks.js';
import { takeSnapshot, type Snapshot } from '../sandbox/audit/snapshot.js';
import { clearIndexLock, hasIndexLock } from '../sandbox/index-lock.js';
import type { LaneFacts } from '../sandbox/lane-facts.js';
import { openLaneSandbox, type LaneSandbox } from '../sandbox/lane-sandbox.js';
import type { MachineFacts } from '../sandbox/machine-facts.js';
import { removePlantedRefs } from '../sandbox/planted-refs.js';
import { laneFolders, type SharedFolders } from '../sandbox/worker-folders.js';
import { dropGitlinks } from './drop-gitlinks.js';
import { executeCommand, type CommandOutcome, type Ended } from './execute-command.js';

/** What must be on disk before something of a call runs. */
export interface StartRecord {
  /** The command itself, or a walled Git that puts the checkout's index right afterwards. */
  readonly stage: 'command' | 'repair';
  readonly init: ProcessIdentity;
  /** At the checkout: what an audit after a crash compares with. */
  readonly snapshot?: Snapshot | undefined;
}

export interface LaneCommand {
  /** Verified just before; its descriptors stay open until the call has settled. */
  readonly lane: LaneFacts;
  /** Names the home that is kept for this lane. */
  readonly homeKey: string;
  readonly machine: MachineFacts;
  readonly shared: SharedFolders;
  /** Absolute, in the lane. */
  readonly workingDirectory: string;
  readonly command: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly graceMs?: number | undefined;
  /** How long a killed sandbox may take to be gone, in milliseconds. */
  readonly goneWithinMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What the command may reach; nothing by default. Anything else needs a host. */
  readonly network?: NetworkPolicy | undefined;
  readonly networkHost?: NetworkHost | undefined;
  readonly journalId: string;
  /** Verifies the lane again, right before the command may run; throws where it is not what it was. */
  readonly verifyAgain?: (() => void) | undefined;
  /** Writes and syncs the record; the command runs only when that is fulfilled. */
  readonly journalStart: (record: StartRecord) => Promise<void>;
  /**
   * Looks after what lies in the lane and is a lane of its own, when nothing of the command runs any more; told
   * whether the command was stopped. Returns notices.
   */
  readonly lookBeneath?: ((wasStopped: boolean) => Promise<readonly string[]>) | undefined;
  /** Called right before the command, or a repair after it, may run. */
  readonly onStart?: ((init: ProcessIdentity) => void) | undefined;
}

export interface LaneOutcome extends CommandOutcome {
  /** Why the lane may not be used until that is settled. */
  readonly quarantine?: string | undefined;
}

/**
 * Runs one command in its lane's wall, with what belongs around it: at the checkout a snapshot before and the
 * audit after; links and pipes among refs and metadata are removed, and the index lock of a Git that was killed is cleared. Notices are the last lines of `stderr`.
 *
 * @throws {CodelanesError} before the command runs, as `startSandboxed` and `openLaneSandbox`.
 */
export async function runInLane(call: LaneCommand): Promise<LaneOutcome> {
  const sandbox = openLaneSandbox(call.lane, {
    machine: call.machine,
    folders: laneFolders(call.shared, call.homeKey),
    workingDirectory: call.workingDirectory,
    network: call.network,
  });
  try {
    return await new LaneRun(call, sandbox).run();
  } finally {
    sandbox.close();
  }
}

class LaneRun {
  readonly #call: LaneCommand;
  readonly #sandbox: LaneSandbox;
  #snapshot: Snapshot | undefined;
  #wasLocked = false;
  #quarantine: string | undefined;

  constructor(call: LaneCommand, sandbox: LaneSandbox) {
    this.#call = call;
    this.#sandbox = sandbox;
  }

  async run(): Promise<LaneOutcome> {
    const { policy, descriptors } = this.#sandbox;
    const { machine, verifyAgain, journalStart, lookBeneath: _later, ...call } = this.#call;
    const outcome = await executeCommand({
      ...call,
      policy,
      descriptors,
      shell: machine.shell,
      beforeStart: () => {
        verifyAgain?.();
        this.#lookBefore();
      },
      journalStart: (init) => journalStart({ stage: 'command', init, snapshot: this.#snapshot }),
      afterwards: (ended) => this.#afterwards(ended),
    });
    return { ...outcome, quarantine: this.#quarantine };
  }

  #lookBefore(): void {
    const { lane } = this.#call;
    const gitDirectory = gitDirectoryOf(lane);
    this.#wasLocked = gitDirectory !== undefined && hasIndexLock(gitDirectory);
    if (lane.kind === 'checkout') this.#snapshot = takeSnapshot(lane);
  }

  async #afterwards({ ending, gone }: Ended): Promise<string[]> {
    if (!gone) {
      this.#quarantine = 'The processes of the command could not be shown to be gone.';
      return this.#closed();
    }
    const wasStopped = ending.kind !== 'exited';
    const notices = [
      ...(wasStopped ? this.#clearLock() : []),
      ...this.#sweepRefs(),
      ...((await this.#call.lookBeneath?.(wasStopped)) ?? []),
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
    const gitDirectory = gitDirectoryOf(this.#call.lane);
    // A lock from before the call is somebody else's.
    if (gitDirectory === undefined || this.#wasLocked || !clearIndexLock(gitDirectory)) return [];
    return ['The index lock that the stopped Git left behind has been removed.'];
  }

  #sweepRefs(): readonly string[] {
    const { lane } = this.#call;
    const descriptor =
      lane.kind === 'worktree' ? this.#sandbox.descriptors.get('commonDir') : gitDirectoryOf(lane);
    if (descriptor === undefined) return [];
    const git = Directory.open(`/proc/self/fd/${descriptor}`);
    try {
      const metadata = lane.kind === 'worktree' ? basename(lane.metadataDir) : undefined;
      const { notices, quarantine } = removePlantedRefs(git, metadata);
      this.#quarantine = quarantine;
      return notices;
    } finally {
      git.close();
    }
  }

  async #dropGitlinks(gitlinks: readonly Gitlink[]): Promise<string[]> {
    const { journalId, journalStart, onStart, shared } = this.#call;
    const { dropped, sentence } = await dropGitlinks({
      gitlinks,
      sandbox: this.#sandbox,
      realGit: shared.realGit,
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
