import { spawnSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { repositoryRoot, runQuietly, toolEnvironment } from './run.mjs';
import { isOnPath } from './system-packages.mjs';

/** @type {{ packageManager: string }} */
const manifest = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8'));
/** The one pnpm that this repository was tried with, as `pnpm@x.y.z`. */
const wanted = manifest.packageManager;

/** @param {string} program @param {readonly string[]} args */
function outputOf(program, args) {
  const ended = spawnSync(program, args, { cwd: repositoryRoot, env: toolEnvironment, encoding: 'utf8' });
  return ended.status === 0 ? ended.stdout.trim() : undefined;
}

/** A newer pnpm of the same major serves too: nobody's own one is replaced by an older. */
function isPresent() {
  const version = outputOf('pnpm', ['--version']);
  if (version === undefined) return false;
  const [major, minor] = version.split('.').map(Number);
  const [wantedMajor, wantedMinor] = wanted.slice('pnpm@'.length).split('.').map(Number);
  return major === wantedMajor && minor !== undefined && minor >= (wantedMinor ?? 0);
}

/** @param {string} folder */
function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** @returns {string | undefined} Why pnpm cannot be installed from here, and how to get it. */
export function packageManagerFault() {
  if (isPresent()) return undefined;
  if (!isOnPath('npm')) return `Missing on this machine: ${wanted}, and npm to install it with.`;
  const prefix = outputOf('npm', ['prefix', '-g']);
  if (prefix !== undefined && isWritable(join(prefix, 'lib', 'node_modules'))) return undefined;
  return `Missing on this machine: ${wanted}.\nInstall it with:\n  sudo npm install -g ${wanted}`;
}

/**
 * @param {(line: string) => void} say
 * @returns {boolean} Whether the right pnpm is first in PATH now.
 */
export function ensurePackageManager(say) {
  if (isPresent()) return true;
  say(`Installing ${wanted} …`);
  if (!runQuietly('Installing pnpm', 'npm', ['install', '-g', '--no-fund', '--no-audit', wanted]))
    return false;
  const bin = join(outputOf('npm', ['prefix', '-g']) ?? '', 'bin');
  const path = [bin, process.env['PATH'] ?? ''].join(delimiter);
  process.env['PATH'] = path;
  toolEnvironment['PATH'] = path;
  if (isPresent()) return true;
  console.error(`${wanted} was installed to ${bin}, but another pnpm stands in its way: remove that one.`);
  return false;
}
