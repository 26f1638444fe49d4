import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { thisMachine } from './machine.mjs';
import { repositoryRoot, runQuietly } from './run.mjs';

/** @type {{ packageManager: string }} */
const manifest = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8'));
/** The one pnpm that this repository was tried with, as `pnpm@x.y.z`. */
export const wantedPackageManager = manifest.packageManager;

/**
 * Whether the right pnpm is there. A newer one of the same major serves too: nobody's own one is replaced by an older.
 *
 * @param {Pick<import('./machine.mjs').Machine, 'pnpm'>} machine
 * @returns {boolean}
 */
export function hasPackageManager({ pnpm }) {
  const [major, minor] = (pnpm ?? '').split('.').map(Number);
  const [wantedMajor, wantedMinor] = wantedPackageManager.slice('pnpm@'.length).split('.').map(Number);
  return major === wantedMajor && minor !== undefined && minor >= (wantedMinor ?? 0);
}

/**
 * @param {import('./machine.mjs').Machine} machine
 * @returns {string | undefined} Why pnpm cannot be installed from here, and how to get it.
 */
export function packageManagerFault(machine) {
  if (hasPackageManager(machine)) return undefined;
  const what = `Missing on this machine: ${wantedPackageManager}`;
  if (!machine.runs('npm')) {
    return `${what}, and npm to install it with, which comes with Node: put the folder of both first in PATH.`;
  }
  const place = machine.globalPackages();
  if (place?.isInPath === false) {
    return `${what}, and npm would put it into ${place.programs}, which is not in PATH: add that folder to PATH.`;
  }
  if (place?.isWritable === true) return undefined;
  return `${what}.\nInstall it with:\n  sudo npm install -g ${wantedPackageManager}`;
}

/** @returns {boolean} Whether the right pnpm is first in PATH now. */
export function installPackageManager() {
  const args = ['install', '-g', '--no-fund', '--no-audit', wantedPackageManager];
  if (!runQuietly('Installing pnpm', 'npm', args)) return false;
  if (hasPackageManager(thisMachine())) return true;
  console.error(
    `${wantedPackageManager} was installed, and another pnpm stands before it in PATH: remove that one.`,
  );
  return false;
}
