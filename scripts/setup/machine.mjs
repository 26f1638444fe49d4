import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { repositoryRoot, toolEnvironment } from './run.mjs';

/**
 * What setup goes by.
 *
 * @typedef {object} Machine
 * @property {string} node The version of the Node that runs.
 * @property {string} platform
 * @property {boolean} isRoot
 * @property {string | undefined} pnpm The version of the pnpm that is first in PATH.
 * @property {(program: string) => boolean} runs Whether a program is in PATH.
 * @property {(program: string) => boolean} runsForRoot Whether it is in PATH, or where programs for root are.
 * @property {() => GlobalPackages | undefined} globalPackages Asked for only when needed, as npm is slow to answer.
 *
 * @typedef {object} GlobalPackages
 * @property {string} programs The folder into which `npm install -g` puts programs.
 * @property {boolean} isInPath Whether they would be found there.
 * @property {boolean} isWritable Whether it could put them there.
 */

/** Programs for the keeper of a machine lie there; not everybody's PATH has it. */
const folderOfRoot = ['/usr/sbin', '/sbin'];

/** @returns {Machine} The one that this runs on, as it is now. */
export function thisMachine() {
  return {
    node: process.versions.node,
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    pnpm: outputOf('pnpm', ['--version']),
    runs: (program) => isIn(folders(), program),
    runsForRoot: (program) => isIn([...folders(), ...folderOfRoot], program),
    globalPackages,
  };
}

/** @returns {GlobalPackages | undefined} */
function globalPackages() {
  const prefix = outputOf('npm', ['prefix', '-g']);
  if (prefix === undefined) return undefined;
  const programs = join(prefix, 'bin');
  return {
    programs,
    isInPath: folders().includes(programs),
    isWritable: [programs, join(prefix, 'lib', 'node_modules')].every(isWritable),
  };
}

function folders() {
  return (process.env['PATH'] ?? '').split(delimiter);
}

/** @param {readonly string[]} places @param {string} program */
function isIn(places, program) {
  return places.some((folder) => existsSync(join(folder, program)));
}

/** @param {string} program @param {readonly string[]} args */
function outputOf(program, args) {
  const ended = spawnSync(program, args, { cwd: repositoryRoot, env: toolEnvironment, encoding: 'utf8' });
  return ended.status === 0 ? ended.stdout.trim() : undefined;
}

/**
 * Whether something can be written there; what is missing of its path could be made.
 *
 * @param {string} folder
 * @returns {boolean}
 */
function isWritable(folder) {
  if (!existsSync(folder)) return isWritable(dirname(folder));
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
