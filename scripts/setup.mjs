/**
 * Brings a fresh machine and a fresh clone to where everything runs: system programs, pnpm, packages, build.
 * Does nothing that is done already. Stops before its first change where it could not finish.
 * Plain Node with no dependency, since nothing is installed yet. `--quiet` leaves out what went well, `--tests`
 * brings what only tests need as well.
 */
import { buildAll } from './setup/build.mjs';
import { thisMachine } from './setup/machine.mjs';
import { installPackageManager, wantedPackageManager } from './setup/package-manager.mjs';
import { planSetup } from './setup/plan.mjs';
import { runQuietly } from './setup/run.mjs';
import { installSystemPackages } from './setup/system-packages.mjs';

const say = process.argv.includes('--quiet') ? () => undefined : console.log;

function setup() {
  const plan = planSetup(thisMachine(), { forTests: process.argv.includes('--tests') });
  if (plan.faults.length > 0) {
    console.error(plan.faults.join('\n'));
    console.error('Nothing was changed. Run this again afterwards.');
    return false;
  }
  if (carryOut(plan)) return true;
  console.error('Mend what stands above, and run this again: what was done stays done.');
  return false;
}

/** @param {import('./setup/plan.mjs').Plan} plan */
function carryOut({ systemPackages, packageManager }) {
  if (systemPackages.length > 0) {
    say(`Installing ${systemPackages.join(', ')} …`);
    if (!installSystemPackages(systemPackages)) return false;
  }
  if (packageManager) {
    say(`Installing ${wantedPackageManager} …`);
    if (!installPackageManager()) return false;
  }
  say('Installing packages and building; the first time takes a minute or two …');
  if (!runQuietly('Installing packages', 'pnpm', ['install', '--frozen-lockfile'])) return false;
  if (!buildAll()) return false;
  say('Ready. The command line is: node apps/cli/dist/main.js');
  return true;
}

if (!setup()) process.exitCode = 1;
