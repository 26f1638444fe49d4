import { describe, expect, it } from 'vitest';
import type { Machine } from './machine.mjs';
import { wantedPackageManager } from './package-manager.mjs';
import { planSetup } from './plan.mjs';

const wanted = wantedPackageManager.slice('pnpm@'.length);
const [major, minor = 0] = wanted.split('.').map(Number);
const fresh = ['npm', 'apt-get', 'flock'];
const whole = [...fresh, 'bwrap', 'git', 'rg', 'redis-server', 'openssl', 'curl'];
const ofRoot = ['mkfs.xfs', 'filefrag'];

interface Facts extends Partial<Omit<Machine, 'runs' | 'runsForRoot' | 'globalPackages'>> {
  readonly programs?: readonly string[];
  readonly ofRoot?: readonly string[];
  readonly global?: Partial<ReturnType<Machine['globalPackages']>>;
}

/** A Debian on which everything is, but for what a test says. */
function machine({ programs = whole, ofRoot: more = ofRoot, global, ...facts }: Facts = {}): Machine {
  return {
    node: '20.19.0',
    platform: 'linux',
    isRoot: true,
    pnpm: wanted,
    runs: (program) => programs.includes(program),
    runsForRoot: (program) => [...programs, ...more].includes(program),
    globalPackages: () => ({ programs: '/usr/local/bin', isInPath: true, isWritable: true, ...global }),
    ...facts,
  };
}

const nothing = { faults: [], systemPackages: [], packageManager: false };
const forUse = { forTests: false };
const forTests = { forTests: true };

describe('what setup would do', () => {
  it('is nothing where nothing is missing', () => {
    expect(planSetup(machine(), forUse)).toEqual(nothing);
    expect(planSetup(machine({ isRoot: false }), forTests)).toEqual(nothing);
  });

  it('is to install, as root on a bare Debian, exactly what is missing', () => {
    const bare = machine({ programs: fresh, ofRoot: ['filefrag'], pnpm: undefined });
    const used = ['bubblewrap', 'git', 'ripgrep'];
    expect(planSetup(bare, forUse)).toEqual({ faults: [], systemPackages: used, packageManager: true });
    const tested = [...used, 'redis-server', 'openssl', 'curl', 'xfsprogs'];
    expect(planSetup(bare, forTests)).toEqual({ faults: [], systemPackages: tested, packageManager: true });
  });

  it.each([
    ['bwrap', 'bubblewrap'],
    ['git', 'git'],
    ['rg', 'ripgrep'],
    ['flock', 'util-linux'],
  ])('is to bring %s by the package %s', (program, name) => {
    const programs = whole.filter((other) => other !== program);
    expect(planSetup(machine({ programs }), forUse)).toEqual({ ...nothing, systemPackages: [name] });
  });

  it('takes what tests need where programs for root are, and what commands need only from PATH', () => {
    expect(planSetup(machine({ ofRoot }), forTests)).toEqual(nothing);
    const hidden = machine({
      programs: whole.filter((name) => name !== 'bwrap'),
      ofRoot: [...ofRoot, 'bwrap'],
    });
    expect(planSetup(hidden, forUse).systemPackages).toEqual(['bubblewrap']);
  });

  it.each([wanted, `${major}.${minor + 1}.0`, `${major}.${minor + 100}.3`])(
    'leaves a pnpm of the same age or newer alone: %s',
    (pnpm) => {
      expect(planSetup(machine({ pnpm, global: { isWritable: false } }), forUse)).toEqual(nothing);
    },
  );

  it.each([
    undefined,
    '',
    'no version',
    `${major}`,
    '9.15.4',
    `${Number(major) - 1}.99.0`,
    `${Number(major) + 1}.0.0`,
  ])('replaces no pnpm, an older one, or one of another major: %s', (pnpm) => {
    expect(planSetup(machine({ pnpm }), forUse)).toEqual({ ...nothing, packageManager: true });
  });
});

describe('what setup says before it changes anything', () => {
  const faultsOf = (facts: Facts, purpose = forUse) => planSetup(machine(facts), purpose).faults;

  it.each(['18.20.4', '20.18.3', '16.0.0'])('a Node that is too old: %s', (node) => {
    expect(faultsOf({ node })).toEqual([
      `This is Node ${node}, and Codelanes needs 20.19 or newer: install one from https://nodejs.org and put it first in PATH.`,
    ]);
  });

  it.each(['20.19.0', '20.20.2', '22.0.0', '100.1.1'])('nothing of Node %s', (node) => {
    expect(faultsOf({ node })).toEqual([]);
  });

  it('without root: all that is missing, and the commands that bring it', () => {
    const facts = { isRoot: false, programs: fresh, pnpm: undefined, global: { isWritable: false } };
    expect(faultsOf(facts)).toEqual([
      'Missing on this machine: bubblewrap, git, ripgrep.\nInstall them with:\n  sudo apt-get update && sudo apt-get install -y bubblewrap git ripgrep',
      `Missing on this machine: ${wantedPackageManager}.\nInstall it with:\n  sudo npm install -g ${wantedPackageManager}`,
    ]);
    expect(faultsOf(facts, forTests)[0]).toContain(
      'install -y bubblewrap git ripgrep redis-server openssl curl',
    );
  });

  it('without root, but where npm may write, nothing of pnpm', () => {
    expect(faultsOf({ isRoot: false, pnpm: undefined })).toEqual([]);
  });

  it.each([true, false])('where there is no apt-get: what is missing, whether it is root (%s)', (isRoot) => {
    expect(faultsOf({ isRoot, programs: ['npm', 'git', 'flock'] })).toEqual([
      'Missing on this machine: bubblewrap, ripgrep.\nInstall them with the package manager of this system.',
    ]);
  });

  it('where there is no npm: that pnpm needs it', () => {
    const programs = whole.filter((name) => name !== 'npm');
    expect(faultsOf({ programs, pnpm: undefined })).toEqual([
      `Missing on this machine: ${wantedPackageManager}, and npm to install it with, which comes with Node: put the folder of both first in PATH.`,
    ]);
  });

  it('where programs that npm installs would not be found: the folder to add to PATH', () => {
    const global = { programs: '/home/ann/npm/bin', isInPath: false };
    expect(faultsOf({ pnpm: undefined, global })).toEqual([
      `Missing on this machine: ${wantedPackageManager}, and npm would put it into /home/ann/npm/bin, which is not in PATH: add that folder to PATH.`,
    ]);
  });

  it('where npm does not tell where it installs: the command', () => {
    const unknown = { ...machine({ pnpm: undefined }), globalPackages: () => undefined };
    expect(planSetup(unknown, forUse).faults).toEqual([
      `Missing on this machine: ${wantedPackageManager}.\nInstall it with:\n  sudo npm install -g ${wantedPackageManager}`,
    ]);
  });

  it('on another system than Linux: that it needs Linux', () => {
    expect(faultsOf({ platform: 'darwin' })).toEqual([
      'Codelanes walls commands with bubblewrap, which needs Linux; this is darwin.',
    ]);
  });

  it('every fault at once', () => {
    expect(faultsOf({ node: '18.0.0', isRoot: false, programs: [], pnpm: undefined })).toHaveLength(3);
  });
});
