/**
 * Brings a fresh machine and a fresh clone to where everything runs: system programs, pnpm, packages, build.
 * Does nothing that is done already. Stops before its first change where it could not finish.
 * Plain Node with no dependency, since nothing is installed yet. `--quiet` leaves out what went well, `--tests`
 * brings what only tests need as well.
 */
import { buildAll } from './setup/build.mjs';
import { nodeFault } from './setup/node-version.mjs';
import { ensurePackageManager, packageManagerFault } from './setup/package-manager.mjs';
import { runQuietly } from './setup/run.mjs';
import {
  installSystemPackages,
  missingSystemPackages,
  systemPackagesFault,
} from './setup/system-packages.mjs';

const say = process.argv.includes('--quiet') ? () => undefined : console.log;

function setup() {
  const missing = missingSystemPackages({ forTests: process.argv.includes('--tests') });
  const faults = [nodeFault(), systemPackagesFault(missing), packageManagerFault()].filter(
    (fault) => fault !== undefined,
  );
  if (faults.length > 0) {
    console.error(faults.join('\n'));
    console.error('Nothing was changed. Run this again afterwards.');
    return false;
  }
  if (missing.length > 0) {
    say(`Installing ${missing.join(', ')} …`);
    if (!installSystemPackages(missing)) return false;
  }
  if (!ensurePackageManager(say)) return false;
  say('Installing packages and building; the first time takes a minute or two …');
  if (!runQuietly('Installing packages', 'pnpm', ['install', '--frozen-lockfile'])) return false;
  if (!buildAll()) return false;
  say('Ready. The command line is: node apps/cli/dist/main.js');
  return true;
}

if (!setup()) process.exitCode = 1;
