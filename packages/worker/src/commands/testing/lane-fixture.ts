import { randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkPolicy } from '../../environment/network-policy.js';
import { executeCommand, type CommandOutcome, type ExecuteOptions } from '../execute-command.js';
import { openWall } from '../run-in-lane.js';
import { openCheckout, pinCheckout } from '../../lanes/checkout.js';
import { openWorktree } from '../../lanes/verify.js';
import {
  checkoutLane,
  laneTop,
  worktreeLane,
  type CheckoutLane,
  type LaneFacts,
  type WorktreeLane,
} from '../../sandbox/lane-facts.js';
import type { LaneSandbox } from '../../sandbox/lane-sandbox.js';
import { gatherMachineFacts, type MachineFacts } from '../../sandbox/machine-facts.js';
import { writeSharedFolders } from '../../sandbox/worker-folders.js';

/** How a command is run, where it matters to a test. */
export type FixtureOptions = Partial<ExecuteOptions> & {
  readonly machine?: MachineFacts | undefined;
  readonly network?: NetworkPolicy | undefined;
};

/** A repository with two linked worktrees and a worker's state beside it, in a temporary folder. */
export class LaneFixture {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-walls-')));
  readonly root = join(this.folder, 'home', 'repo');
  readonly git = join(this.root, '.git');
  readonly state = join(this.folder, 'state');
  readonly journalId = randomBytes(16).toString('hex');
  readonly machine = gatherMachineFacts({
    home: join(this.folder, 'home'),
    searchPath: process.env['PATH'] ?? '',
  });
  readonly shared = writeSharedFolders(this.state, '/usr/bin/git', {});

  constructor(worktrees: readonly string[] = ['a', 'b']) {
    mkdirSync(this.root, { recursive: true });
    writeFileSync(join(this.folder, 'home', 'secret'), 'of the operator\n');
    this.host('git init -q -b main && echo one > file && git add file && git commit -qm one');
    this.host('mkdir -p node_modules/leftpad && echo "module.exports = 1" > node_modules/leftpad/index.js');
    this.host('echo .worktrees > .git/info/exclude');
    for (const name of worktrees) this.host(`git worktree add -q -b lane/${name} .worktrees/${name}`);
  }

  /** Runs a shell on the host, as the operator would, in the checkout. */
  host(script: string, cwd = this.root): string {
    return execFileSync('/bin/sh', ['-c', script], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: join(this.folder, 'home'),
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_NAME: 'Op',
        GIT_AUTHOR_EMAIL: 'op@example.invalid',
        GIT_COMMITTER_NAME: 'Op',
        GIT_COMMITTER_EMAIL: 'op@example.invalid',
      },
    });
  }

  path(worktree: string): string {
    return join(this.root, '.worktrees', worktree);
  }

  /** A worktree's lane as verification hands it over; the caller closes it. */
  openWorktree(name: string): WorktreeLane & { close: () => void } {
    const opened = openWorktree(pinCheckout(this.root), name);
    return {
      ...worktreeLane(opened),
      close: () => {
        opened.close();
      },
    };
  }

  /** The same of the checkout. */
  openCheckout(): CheckoutLane & { close: () => void } {
    const opened = openCheckout(this.root);
    return {
      ...checkoutLane(opened),
      close: () => {
        opened.close();
      },
    };
  }

  /** Runs a command in a worktree's lane. */
  async inWorktree(name: string, command: string, options: FixtureOptions = {}): Promise<CommandOutcome> {
    const lane = this.openWorktree(name);
    try {
      return await this.run(lane, command, options);
    } finally {
      lane.close();
    }
  }

  async atCheckout(command: string, options: FixtureOptions = {}): Promise<CommandOutcome> {
    const lane = this.openCheckout();
    try {
      return await this.run(lane, command, options);
    } finally {
      lane.close();
    }
  }

  /** The wall of a lane, as a worker opens it; the caller closes it. */
  openSandbox(
    lane: LaneFacts,
    { machine = this.machine, network }: Pick<FixtureOptions, 'machine' | 'network'> = {},
  ): LaneSandbox {
    const home = { lane: laneTop(lane), tree: '' };
    return openWall({ lane, home, machine, shared: this.shared, network });
  }

  async run(lane: LaneFacts, command: string, options: FixtureOptions = {}): Promise<CommandOutcome> {
    const sandbox = this.openSandbox(lane, options);
    try {
      return await executeCommand({
        policy: sandbox.policy,
        descriptors: sandbox.descriptors,
        command,
        shell: this.machine.shell,
        journalId: this.journalId,
        journalStart: () => Promise.resolve(),
        timeoutMs: 45_000,
        maxOutputBytes: 256 * 1024,
        ...options,
      });
    } finally {
      sandbox.close();
    }
  }

  /**
   * Runs attacks in a worktree's lane one by one, each in a shell of its own; returns the names of those that
   * ended with 0, and fails if the last was not reached.
   */
  async breakThrough(worktree: string, attacks: Readonly<Record<string, string>>): Promise<string[]> {
    const tried = Object.entries(attacks).map(
      ([name, attack]) => `(${attack}) >/dev/null 2>&1 && echo '${name}'`,
    );
    const { stdout } = await this.inWorktree(worktree, [...tried, 'echo all tried'].join('\n'));
    if (!stdout.endsWith('all tried\n')) throw new Error(`The attacks did not come to their end: ${stdout}`);
    return stdout.split('\n').slice(0, -2);
  }

  /** A digest of every file and link in a folder, metadata times left out. */
  digest(folder: string): string {
    return this.host(
      'find . \\( -type f -exec sha256sum {} + \\) -o \\( -type l -printf "%p -> %l\\n" \\) | sort',
      folder,
    );
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
