import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { WorktreeLane } from './lane-facts.js';
import { openLaneSandbox } from './lane-sandbox.js';
import type { MachineFacts } from './machine-facts.js';
import { untilGone } from './process-tree.js';
import { startSandboxed } from './start.js';
import { remedyFor, type KernelSettings } from './wall-remedies.js';
import { laneFolders, type SharedFolders } from './worker-folders.js';

export type SelfTestResult =
  { readonly ok: true } | { readonly ok: false; readonly reason: string; readonly remedy: string };

export interface SelfTestOptions {
  readonly machine: MachineFacts;
  readonly shared: SharedFolders;
  readonly bwrap?: string | undefined;
}

/** Each probe tries what a wall must forbid, and says its name if it got through. */
const probes: readonly (readonly [name: string, script: string])[] = [
  ['write the shared Git configuration', 'echo x >>"$CODELANES_GIT_COMMON_DIR/config"'],
  ['write a hook', 'echo x >"$CODELANES_GIT_COMMON_DIR/hooks/post-commit"'],
  ["write the worktree's pointer", 'echo x >>.git'],
  ["see the checkout's files", '[ -e ../../file ]'],
  ['write kernel settings', ': >>/proc/sys/kernel/core_pattern'],
  ['make a user namespace', 'unshare --user true'],
  ['mount', 'mount -t tmpfs none /tmp'],
  ['remount the system writable', 'mount -o remount,rw,bind /usr'],
];
const allTried = 'all tried';

/**
 * Builds a worktree lane's wall around a made-up repository, with the arguments that every command will get,
 * and attacks it from inside. A machine that fails runs no commands: there is no weaker mode.
 */
export async function selfTest({ machine, shared, bwrap }: SelfTestOptions): Promise<SelfTestResult> {
  const folder = realpathSync(mkdtempSync(join(shared.state, 'self-test-')));
  try {
    const said = await attack(folder, { machine, shared, bwrap });
    const through = said.split('\n').filter((line) => line !== '' && line !== allTried);
    if (through.length > 0) {
      return failure(`The sandbox of this machine does not hold: a command could ${through.join(', ')}.`);
    }
    return said.includes(allTried)
      ? { ok: true }
      : failure('The test of the sandbox did not come to its end.');
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function attack(folder: string, { machine, shared, bwrap }: SelfTestOptions): Promise<string> {
  const lane = makeRepository(folder);
  const sandbox = openLaneSandbox(lane, {
    machine,
    folders: laneFolders(shared, { lane: 'self-test', tree: '' }),
    workingDirectory: lane.lanePath,
  });
  try {
    const started = await startSandboxed({
      policy: sandbox.policy,
      descriptors: sandbox.descriptors,
      command: [
        ...probes.map(([name, script]) => `(${script}) 2>/dev/null && echo "${name}"`),
        `echo "${allTried}"`,
      ].join('\n'),
      shell: '/bin/sh',
      journalId: 'self-test',
      journalStart: () => Promise.resolve(),
      bwrap,
    });
    started.stderr.resume();
    const said = await text(started.stdout);
    await started.exited;
    await untilGone(started.init);
    return said;
  } finally {
    sandbox.close();
    closeSync(lane.descriptors.worktree);
    closeSync(lane.descriptors.metadata);
  }
}

function makeRepository(folder: string): WorktreeLane {
  const root = join(folder, 'root');
  const commonDir = join(root, '.git');
  const lanePath = join(root, '.worktrees', 'a');
  const metadataDir = join(commonDir, 'worktrees', 'a');
  for (const path of [
    lanePath,
    metadataDir,
    join(commonDir, 'hooks'),
    join(commonDir, 'objects'),
    join(commonDir, 'refs'),
  ]) {
    mkdirSync(path, { recursive: true });
  }
  writeFileSync(join(root, 'file'), '');
  writeFileSync(join(commonDir, 'config'), '[core]\n\trepositoryformatversion = 0\n');
  writeFileSync(join(lanePath, '.git'), `gitdir: ${metadataDir}\n`);
  writeFileSync(join(metadataDir, 'commondir'), '../..\n');
  writeFileSync(join(metadataDir, 'gitdir'), `${lanePath}/.git\n`);
  const open = (path: string): number => openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  const descriptors = { worktree: open(lanePath), metadata: open(metadataDir) };
  return { kind: 'worktree', root, lanePath, commonDir, metadataDir, alternates: [], descriptors };
}

function failure(what: string): SelfTestResult {
  const reason = what.endsWith('.') ? what : `${what}.`;
  return { ok: false, reason, remedy: remedyFor(reason, readKernelSettings()) };
}

function readKernelSettings(): KernelSettings {
  return {
    apparmorRestrictsUserNamespaces: setting('kernel/apparmor_restrict_unprivileged_userns'),
    unprivilegedUserNamespaces: setting('kernel/unprivileged_userns_clone'),
    maxUserNamespaces: setting('user/max_user_namespaces'),
  };
}

function setting(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}
