import type { Logger } from 'pino';
import { findProgram } from '../files/find-program.js';
import { readGlobalSettings } from '../git/global-config.js';
import type { NetworkHost } from '../network/network-host.js';
import { findScriptPrograms, type ScriptPrograms } from '../programmatic/script-programs.js';
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

/**
 * Gets the sandbox ready and attacks it once. `undefined`: this machine cannot wall, which the log explains
 * with its remedy, and no command will be run; there is no weaker mode.
 */
export async function prepareWall(
  options: CompiledOptions,
  networkHost: NetworkHost,
  standby: Standby,
  log: Logger,
): Promise<CommandSettings | undefined> {
  const searchPath = process.env['PATH'] ?? '/usr/bin:/bin';
  const realGit = findProgram('git', searchPath);
  if (realGit === undefined) {
    log.error('There is no git on the PATH: install it. Until then no command is run.');
    return undefined;
  }
  const { home, killGraceMs, goneWithinMs } = options;
  const shared = writeSharedFolders(options.stateDir, realGit, await readGlobalSettings(process.env));
  const served = options.roots.map(({ root }) => root);
  const machine = gatherMachineFacts({ home, searchPath, served });
  const tested = await selfTest({ machine, shared });
  if (!tested.ok) {
    log.error(`No command is run on this machine. ${tested.reason} ${tested.remedy}`);
    return undefined;
  }
  const machines = new Map(
    options.roots.map(({ id, read }) => [id, gatherMachineFacts({ home, searchPath, read, served })]),
  );
  return (root, { network }) => ({
    machine: presentFacts(machines.get(root.id) ?? machine),
    shared,
    network,
    networkHost,
    caches: root.caches,
    standby,
    killGraceMs,
    goneWithinMs,
  });
}

/** Looks for what scripts need on a machine that can wall; the log says what is missing. */
export function prepareScripts({ home }: CompiledOptions, log: Logger): Promise<ScriptPrograms | undefined> {
  const machine = gatherMachineFacts({ home, searchPath: process.env['PATH'] ?? '/usr/bin:/bin' });
  return findScriptPrograms(machine, (reason) => {
    log.warn(reason);
  });
}
