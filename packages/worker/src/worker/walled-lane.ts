import { randomBytes } from 'node:crypto';
import { laneKey, limits } from '@codelanes/protocol';
import { executeCommand, type CommandOutcome } from '../commands/execute-command.js';
import { pinCheckout } from '../lanes/checkout.js';
import { openWorktree, type OpenedWorktree } from '../lanes/verify.js';
import { worktreeMark } from '../lanes/worktree-mark.js';
import { worktreeLane } from '../sandbox/lane-facts.js';
import { openLaneSandbox, type LaneSandbox } from '../sandbox/lane-sandbox.js';
import { gatherMachineFacts, type MachineFacts } from '../sandbox/machine-facts.js';
import { laneFolders, writeSharedFolders } from '../sandbox/worker-folders.js';

export interface WalledLaneOptions {
  /** The checkout. */
  readonly root: string;
  /** Name of the linked worktree. */
  readonly worktree: string;
  /** A folder for what the sandbox shows of a worker: its shim, Git settings, the lane's home. */
  readonly stateDir: string;
  /** The operator's home, which the sandbox does not show. */
  readonly home: string;
}

/**
 * The wall of one worktree lane without a worker around it: verified once, then held open. A command in it is
 * spawned with the same policy and the same arguments as a worker's, but under no lease, with no journal and
 * with no second verification, so it is for measuring what those cost and never for serving calls.
 */
export class WalledLane {
  readonly #opened: OpenedWorktree;
  readonly #sandbox: LaneSandbox;
  readonly #machine: MachineFacts;
  readonly #mark = randomBytes(16).toString('hex');

  private constructor(opened: OpenedWorktree, sandbox: LaneSandbox, machine: MachineFacts) {
    this.#opened = opened;
    this.#sandbox = sandbox;
    this.#machine = machine;
  }

  /** @throws {CodelanesError} as a worker refuses the worktree. */
  static open({ root, worktree, stateDir, home }: WalledLaneOptions): WalledLane {
    const machine = gatherMachineFacts({ home, searchPath: process.env['PATH'] ?? '/usr/bin:/bin' });
    const shared = writeSharedFolders(stateDir, '/usr/bin/git', {});
    const opened = openWorktree(pinCheckout(root), worktree);
    try {
      const folders = laneFolders(shared, {
        lane: laneKey(['measured', `worktree:${worktree}`]),
        tree: worktreeMark(opened.identity),
      });
      const sandbox = openLaneSandbox(worktreeLane(opened), {
        machine,
        folders,
        workingDirectory: opened.lanePath,
      });
      return new WalledLane(opened, sandbox, machine);
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  /** Runs one command to its end, and until every process of it is gone. */
  run(command: string): Promise<CommandOutcome> {
    return executeCommand({
      policy: this.#sandbox.policy,
      descriptors: this.#sandbox.descriptors,
      command,
      shell: this.#machine.shell,
      journalId: this.#mark,
      journalStart: () => Promise.resolve(),
      timeoutMs: limits.commandDefaultTimeoutMs,
      maxOutputBytes: limits.commandDefaultOutputBytes,
    });
  }

  close(): void {
    this.#sandbox.close();
    this.#opened.close();
  }
}
