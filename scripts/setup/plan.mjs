import { nodeFault } from './node-version.mjs';
import { hasPackageManager, packageManagerFault } from './package-manager.mjs';
import { missingSystemPackages, systemPackagesFault } from './system-packages.mjs';

/**
 * What has to be installed on a machine before packages can be and the build can run.
 *
 * @typedef {object} Plan
 * @property {readonly string[]} faults Why it cannot be installed from here, and what to do: each a text for people.
 * @property {readonly string[]} systemPackages
 * @property {boolean} packageManager Whether pnpm is among it.
 */

/**
 * @param {import('./machine.mjs').Machine} machine
 * @param {{ forTests: boolean }} purpose
 * @returns {Plan}
 */
export function planSetup(machine, purpose) {
  const systemPackages = missingSystemPackages(machine, purpose);
  const faults = [
    nodeFault(machine),
    systemPackagesFault(machine, systemPackages),
    packageManagerFault(machine),
  ].filter((fault) => fault !== undefined);
  return { faults, systemPackages, packageManager: !hasPackageManager(machine) };
}
