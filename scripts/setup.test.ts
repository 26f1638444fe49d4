import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wantedPackageManager } from './setup/package-manager.mjs';
import { BareMachine } from './setup/testing/bare-machine.js';

let machine: BareMachine;
beforeEach(() => {
  machine = new BareMachine();
});
afterEach(() => {
  machine.remove();
});

const packagesAndBuild = ['pnpm install --frozen-lockfile', 'pnpm turbo run build --output-logs=errors-only'];
const inOrder = [
  'apt-get update -o APT::Update::Error-Mode=any',
  'apt-get install -y --no-install-recommends bubblewrap git ripgrep util-linux',
  `npm install -g --no-fund --no-audit ${wantedPackageManager}`,
  ...packagesAndBuild,
];

describe('setup on a bare Debian', () => {
  it('as root installs what is missing, then builds', () => {
    const { status, stdout, stderr, calls } = machine.setUp();
    expect({ status, stderr, calls }).toEqual({ status: 0, stderr: '', calls: inOrder });
    expect(stdout).toContain('Installing bubblewrap, git, ripgrep, util-linux …');
    expect(stdout).toContain('Ready.');
  });

  it('a second time installs nothing of the machine', () => {
    machine.setUp();
    expect(machine.setUp()).toMatchObject({ status: 0, calls: packagesAndBuild });
    expect(machine.setUp({ as: 'somebody' })).toMatchObject({ status: 0, calls: packagesAndBuild });
  });

  it('without root says what is missing and how to get it, and changes nothing', () => {
    expect(machine.setUp({ as: 'somebody' })).toEqual({
      status: 1,
      stdout: '',
      stderr: [
        'Missing on this machine: bubblewrap, git, ripgrep, util-linux.',
        'Install them with:',
        '  sudo apt-get update && sudo apt-get install -y bubblewrap git ripgrep util-linux',
        `Missing on this machine: ${wantedPackageManager}.`,
        'Install it with:',
        `  sudo npm install -g ${wantedPackageManager}`,
        'Nothing was changed. Run this again afterwards.',
        '',
      ].join('\n'),
      calls: [],
    });
  });

  it.each([
    ['apt-get install', 'Installing system packages'],
    ['npm install', 'Installing pnpm'],
    ['pnpm install', 'Installing packages'],
    ['pnpm turbo', 'Building'],
  ])('stops where "%s" fails: what it said, what failed, and what to do', (fails, title) => {
    const { status, stdout, stderr, calls } = machine.setUp({ fails });
    const failed = inOrder.findIndex((call) => call.startsWith(fails));
    const call = inOrder[failed] ?? '';
    expect({ status, calls }).toEqual({ status: 1, calls: inOrder.slice(0, failed + 1) });
    expect(stderr.split('\n').filter((line) => line !== '')).toEqual([
      `E: no route to ${call}`,
      `${title} failed (status 100): ${call}`,
      'Mend what stands above, and run this again: what was done stays done.',
    ]);
    expect(stdout).not.toContain('Ready.');
  });

  it('needs no fresh lists of packages where it gets them all the same', () => {
    const run = machine.setUp({ fails: 'apt-get update' });
    expect(run).toMatchObject({ status: 0, stderr: '', calls: inOrder });
  });

  it('says of missing packages too why their lists are not fresh', () => {
    const { status, stderr, calls } = machine.setUp({ fails: 'apt-get' });
    expect({ status, calls }).toEqual({ status: 1, calls: inOrder.slice(0, 2) });
    expect(stderr.split('\n').filter((line) => line !== '')).toEqual([
      `E: no route to ${inOrder[0]}`,
      `Reading package lists failed (status 100): ${inOrder[0]}`,
      `E: no route to ${inOrder[1]}`,
      `Installing system packages failed (status 100): ${inOrder[1]}`,
      'Mend what stands above, and run this again: what was done stays done.',
    ]);
  });

  it('goes on where it stopped', () => {
    machine.setUp({ fails: 'npm install' });
    expect(machine.setUp()).toMatchObject({ status: 0, calls: inOrder.slice(2) });
  });

  it('with --quiet says nothing of what goes well', () => {
    expect(machine.setUp({ flags: ['--quiet'] })).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });
});
