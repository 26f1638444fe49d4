import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runQuietly } from './run.mjs';

/** Programs that Codelanes runs, and the Debian package that brings each. */
const needed = {
  bwrap: 'bubblewrap',
  git: 'git',
  rg: 'ripgrep',
  flock: 'util-linux',
};

/** Programs that only tests run. */
const neededByTests = {
  'redis-server': 'redis-server',
  openssl: 'openssl',
  'mkfs.xfs': 'xfsprogs',
  filefrag: 'e2fsprogs',
};

/** Programs for the keeper of a machine lie there; not everybody's PATH has it. */
const systemFolders = ['/usr/sbin', '/sbin'];

/** @param {string} program */
export function isOnPath(program) {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...systemFolders];
  return folders.some((folder) => existsSync(join(folder, program)));
}

const isRoot = process.getuid?.() === 0;

/**
 * @param {{ forTests: boolean }} purpose
 * @returns {string[]} The packages whose program is not in PATH.
 */
export function missingSystemPackages({ forTests }) {
  return Object.entries({ ...needed, ...(forTests && neededByTests) })
    .filter(([program]) => !isOnPath(program))
    .map(([, name]) => name);
}

/**
 * @param {readonly string[]} missing
 * @returns {string | undefined} Why the missing packages cannot be installed from here, and how to get them.
 */
export function systemPackagesFault(missing) {
  if (missing.length === 0) return undefined;
  if (process.platform !== 'linux')
    return `Codelanes walls commands with bubblewrap, which needs Linux; this is ${process.platform}.`;
  const what = `Missing on this machine: ${missing.join(', ')}.`;
  if (!isOnPath('apt-get')) return `${what}\nInstall them with the package manager of this system.`;
  if (isRoot) return undefined;
  return `${what}\nInstall them with:\n  sudo apt-get update && sudo apt-get install -y ${missing.join(' ')}`;
}

/**
 * @param {readonly string[]} missing
 * @returns {boolean} Whether every package is there now.
 */
export function installSystemPackages(missing) {
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
  return (
    runQuietly('Reading package lists', 'apt-get', ['update'], quiet) &&
    runQuietly(
      'Installing system packages',
      'apt-get',
      ['install', '-y', '--no-install-recommends', ...missing],
      quiet,
    )
  );
}
