import { runUnseen } from './run.mjs';

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
  curl: 'curl',
  'mkfs.xfs': 'xfsprogs',
  filefrag: 'e2fsprogs',
};

/**
 * @param {Pick<import('./machine.mjs').Machine, 'runs' | 'runsForRoot'>} machine
 * @param {{ forTests: boolean }} purpose
 * @returns {string[]} The packages whose program is missing.
 */
export function missingSystemPackages({ runs, runsForRoot }, { forTests }) {
  return [
    ...Object.entries(needed).filter(([program]) => !runs(program)),
    ...Object.entries(neededByTests).filter(([program]) => forTests && !runsForRoot(program)),
  ].map(([, name]) => name);
}

/**
 * @param {Pick<import('./machine.mjs').Machine, 'isRoot' | 'platform' | 'runs'>} machine
 * @param {readonly string[]} missing
 * @returns {string | undefined} Why the missing packages cannot be installed from here, and how to get them.
 */
export function systemPackagesFault({ isRoot, platform, runs }, missing) {
  if (platform !== 'linux') {
    return `Codelanes walls commands with bubblewrap, which needs Linux; this is ${platform}.`;
  }
  if (missing.length === 0) return undefined;
  const what = `Missing on this machine: ${missing.join(', ')}.`;
  if (!runs('apt-get')) return `${what}\nInstall them with the package manager of this system.`;
  if (isRoot) return undefined;
  return `${what}\nInstall them with:\n  sudo apt-get update && sudo apt-get install -y ${missing.join(' ')}`;
}

/**
 * @param {readonly string[]} missing
 * @returns {boolean} Whether every package is there now.
 */
export function installSystemPackages(missing) {
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
  // apt-get calls lists that it could not fetch a success otherwise.
  const update = ['update', '-o', 'APT::Update::Error-Mode=any'];
  const lists = runUnseen('Reading package lists', 'apt-get', update, quiet);
  const install = ['install', '-y', '--no-install-recommends', ...missing];
  const packages = runUnseen('Installing system packages', 'apt-get', install, quiet);
  if (packages.isGood) return true;
  // Lists of before may do, or those of another source. Where they do not, this is why.
  if (!lists.isGood) lists.complain();
  packages.complain();
  return false;
}
