import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import { findPerl } from '../network/listener-program.js';
import { GatedSandbox } from './gated-sandbox.js';
import type { LaneSandbox } from './lane-sandbox.js';
import { Standby } from './standby.js';

/** So many files the test may have open. */
const most = 400;

let fixture: LaneFixture;
let lane: ReturnType<LaneFixture['openWorktree']>;
let sandbox: LaneSandbox;

beforeEach(() => {
  fixture = new LaneFixture(['a']);
  lane = fixture.openWorktree('a');
  sandbox = fixture.openSandbox(lane);
});
afterEach(() => {
  sandbox.close();
  lane.close();
  fixture.remove();
});

const build = () =>
  new GatedSandbox({ ...sandbox, shell: fixture.machine.shell, journalId: fixture.journalId });
/** What a sandbox is handed in files without a name. */
const unnamedFiles = () =>
  readdirSync('/proc/self/fd')
    .map((name) => readlink(`/proc/self/fd/${name}`))
    .filter((place) => place?.endsWith(' (deleted)'));

function readlink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // It was open for the look at what is open.
    return undefined;
  }
}

function limitFiles(soft: string): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${soft}:`]);
}

/** Does something while only so many descriptors are left. */
function withFew<T>(left: number, act: () => T): T {
  const taken: number[] = [];
  try {
    while (taken.length < most) taken.push(openSync('/dev/null', 'r'));
  } catch {
    // All are taken.
  }
  for (const descriptor of taken.splice(0, left)) closeSync(descriptor);
  try {
    return act();
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
  }
}

describe('a worker that may open no more files', () => {
  let before: string;
  beforeEach(() => {
    before = execFileSync(
      'prlimit',
      ['--pid', String(process.pid), '--nofile', '--output=SOFT', '--noheadings'],
      {
        encoding: 'utf8',
      },
    ).trim();
    limitFiles(String(most));
  });
  afterEach(() => {
    limitFiles(before);
  });

  it('refuses a sandbox, whatever part of it cannot be opened, and keeps none of its files open', async () => {
    const refusals: unknown[] = [];
    let built: GatedSandbox | undefined;
    for (let left = 0; built === undefined; left += 1) {
      try {
        built = withFew(left, build);
      } catch (error) {
        refusals.push(error);
      }
    }
    await built.abandon();
    expect(unnamedFiles()).toEqual([]);
    expect(refusals.at(-1)).toMatchObject({ code: 'COMMAND_UNAVAILABLE' });
  });

  it('has no process stand by until it may again', async () => {
    const standby = new Standby(findPerl(), 1);
    await expect.poll(() => standby.ready).toBe(1);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      for (let left = 0; left < 8; left += 1) {
        standby.take()?.gate.destroy();
        withFew(left, () => vi.runAllTimers());
      }
      standby.take();
      vi.runAllTimers();
      await vi.waitFor(() => {
        expect(standby.ready).toBe(1);
      }, 30_000);
    } finally {
      vi.useRealTimers();
      standby.close();
    }
  });
});
