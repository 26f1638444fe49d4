import type { Logger } from 'pino';
import { findProgram } from '../files/find-program.js';
import { readGlobalSettings } from '../git/global-config.js';
import type { NetworkHost } from '../network/network-host.js';
import { findScriptPrograms, type ScriptPrograms } from '../programmatic/script-programs.js';
import { removeRetiredHomes } from '../sandbox/lane-home.js';
import { gatherMachineFacts, presentFacts } from '../sandbox/machine-facts.js';
import type { Standby } from '../sandbox/standby.js';
import { selfTest } from '../sandbox/self-test.js';
import { writeSharedFolders } from '../sandbox/worker-folders.js';
import type { CompiledOptions } from './options.js';
import type { CommandSetting } from './run-command.js';
import type { ServedRoot } from './served-root.js';
import type { ServedTree } from './served-tree.js';

/** What the commands of a tree of a root are run with. */
export type CommandSettings = (root: ServedRoot, tree: ServedTree) => CommandSetting;

/** A machine that can wall commands, or why it runs none and what its operator can do. */
export type Wall =
  | { readonly commands: CommandSettings; readonly whyNot?: undefined }
  | { readonly commands?: undefined; readonly whyNot: string };

/**
 * Gets the sandbox ready and attacks it once. A machine that cannot wall runs no command, and the log says why; there
 * is no weaker mode.
 */
export async function prepareWall(
  options: CompiledOptions,
  networkHost: NetworkHost,
  standby: Standby,
  log: Logger,
): Promise<Wall> {
  const searchPath = process.env['PATH'] ?? '/usr/bin:/bin';
  const realGit = findProgram('git', searchPath);
  const without = (whyNot: string): Wall => {
    log.error(whyNot);
    return { whyNot };
  };
  if (realGit === undefined) {
    return without('No command is run on this machine. There is no git on the PATH: install it.');
  }
  const { home, killGraceMs, goneWithinMs } = options;
  const shared = writeSharedFolders(options.stateDir, realGit, await readGlobalSettings(process.env));
  void removeRetiredHomes(options.stateDir).catch((error: unknown) => {
    log.warn({ err: error }, 'homes of worktrees that are gone could not be removed');
  });
  const served = options.roots.map(({ root }) => root);
  const closed = options.roots.flatMap(({ setup }) => setup?.reuse?.snapshot?.store ?? []);
  const machine = gatherMachineFacts({ home, searchPath, served, closed });
  const tested = await selfTest({ machine, shared });
  if (!tested.ok) {
    return without(`No command is run on this machine. ${tested.reason} ${tested.remedy}`);
  }
  const machines = new Map(
    options.roots.map(({ id, read }) => [id, gatherMachineFacts({ home, searchPath, read, served, closed })]),
  );
  const commands: CommandSettings = (root, { network }) => ({
    machine: presentFacts(machines.get(root.id) ?? machine),
    shared,
    network,
    networkHost,
    caches: root.caches,
    standby,
    killGraceMs,
    goneWithinMs,
  });
  return { commands };
}

/** Looks for what scripts need on a machine that can wall; the log says what is missing. */
export function prepareScripts({ home }: CompiledOptions, log: Logger): Promise<ScriptPrograms | undefined> {
  const machine = gatherMachineFacts({ home, searchPath: process.env['PATH'] ?? '/usr/bin:/bin' });
  return findScriptPrograms(machine, (reason) => {
    log.warn(reason);
  });
}
