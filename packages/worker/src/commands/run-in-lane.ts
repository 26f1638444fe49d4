import type { NetworkPolicy } from '../environment/network-policy.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import type { NetworkHost } from '../network/network-host.js';
import type { GatedSandbox } from '../sandbox/gated-sandbox.js';
import { laneTop, type LaneFacts } from '../sandbox/lane-facts.js';
import type { HomeOwner } from '../sandbox/lane-home.js';
import { openLaneSandbox, type LaneSandbox } from '../sandbox/lane-sandbox.js';
import type { MachineFacts } from '../sandbox/machine-facts.js';
import type { SharedCache } from '../sandbox/shared-cache.js';
import type { Standby } from '../sandbox/standby.js';
import { laneFolders, type SharedFolders } from '../sandbox/worker-folders.js';
import { executeCommand, type CommandOutcome } from './execute-command.js';
import { LaneCare, type StartRecord } from './lane-care.js';

/** The wall of a lane, and a sandbox that it has ahead of its command. */
export interface BuiltAhead {
  readonly sandbox: LaneSandbox;
  readonly gated: GatedSandbox;
}

export interface LaneCommand {
  /** Verified just before; its descriptors stay open until the call has settled. */
  readonly lane: LaneFacts;
  /** Whose home it runs with. */
  readonly home: HomeOwner;
  readonly machine: MachineFacts;
  readonly shared: SharedFolders;
  /** Where the command starts, relative to the top of the lane; there by default. */
  readonly directory?: string | undefined;
  readonly command: string;
  /** Further variables of its environment. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly graceMs?: number | undefined;
  /** How long a killed sandbox may take to be gone, in milliseconds. */
  readonly goneWithinMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** As `ExecuteOptions` has it. */
  readonly onOutput?: ((chunk: Buffer) => void) | undefined;
  /** What the command may reach; nothing by default. Anything else needs a host. */
  readonly network?: NetworkPolicy | undefined;
  readonly networkHost?: NetworkHost | undefined;
  /** Folders of the machine that it shares with others; none by default. */
  readonly caches?: readonly SharedCache[] | undefined;
  /** Processes that may become the command's sandbox. */
  readonly standby?: Standby | undefined;
  /** By `openWall`, for just this lane; whoever built it closes it. By default the command gets a new sandbox. */
  readonly built?: BuiltAhead | undefined;
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
  /** Called when nothing that ran can go on and the lane is in order again, before there is a result. */
  readonly onFree?: (() => void) | undefined;
  /** Called right before the command, or a repair after it, may run. */
  readonly onStart?: ((init: ProcessIdentity) => void) | undefined;
}

export interface LaneOutcome extends CommandOutcome {
  /** Why the lane may not be used until that is settled. */
  readonly quarantine?: string | undefined;
}

/** What the wall of a lane is made from. */
export type WalledLaneFacts = Pick<
  LaneCommand,
  'lane' | 'home' | 'machine' | 'shared' | 'network' | 'caches'
>;

/** @throws as `openLaneSandbox`. */
export function openWall({ lane, home, machine, shared, network, caches }: WalledLaneFacts): LaneSandbox {
  const folders = laneFolders(shared, home);
  return openLaneSandbox(lane, { machine, folders, workingDirectory: laneTop(lane), network, caches });
}

/**
 * Runs one command in its lane's wall, with the care that belongs around it. Notices are the last lines of `stderr`.
 *
 * @throws {CodelanesError} before the command runs, as `startSandboxed` and `openLaneSandbox`.
 */
export async function runInLane(call: LaneCommand): Promise<LaneOutcome> {
  if (call.built !== undefined) return run(call, call.built.sandbox);
  const sandbox = openWall(call);
  try {
    return await run(call, sandbox);
  } finally {
    sandbox.close();
  }
}

async function run(call: LaneCommand, sandbox: LaneSandbox): Promise<LaneOutcome> {
  const { policy, descriptors } = sandbox;
  const {
    machine,
    variables,
    verifyAgain,
    journalStart,
    built,
    onFree,
    lookBeneath: _later,
    ...command
  } = call;
  const care = new LaneCare({ ...call, sandbox, realGit: call.shared.realGit });
  const outcome = await executeCommand({
    ...command,
    built: built?.gated,
    policy: { ...policy, environment: { ...policy.environment, ...variables } },
    descriptors,
    shell: machine.shell,
    beforeStart: () => {
      verifyAgain?.();
      care.lookBefore();
    },
    journalStart: (init) => journalStart({ stage: 'command', init, snapshot: care.snapshot }),
    afterwards: async ({ ending, gone }) => {
      const notices = await care.lookAfter({ wasStopped: ending.kind !== 'exited', gone });
      if (gone && care.quarantine === undefined) onFree?.();
      return notices;
    },
  });
  return { ...outcome, quarantine: care.quarantine };
}
