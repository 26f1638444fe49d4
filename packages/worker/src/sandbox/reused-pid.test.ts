import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import { watches } from '../files/testing/watches.js';
import { hostProcesses, type ProcessIdentity } from '../lanes/processes.js';
import { findPerl } from '../network/listener-program.js';
import { GatedSandbox } from './gated-sandbox.js';
import type { LaneSandbox } from './lane-sandbox.js';
import { Standby } from './standby.js';

vi.mock(import('node:fs'), async (original) => {
  const { withWatches } = await import('../files/testing/watches.js');
  return withWatches(await original());
});

let fixture: LaneFixture;
let lane: ReturnType<LaneFixture['openWorktree']>;
let sandbox: LaneSandbox;
let standby: Standby;

beforeEach(() => {
  fixture = new LaneFixture(['a']);
  lane = fixture.openWorktree('a');
  sandbox = fixture.openSandbox(lane);
  standby = new Standby(findPerl(), 1);
});
afterEach(() => {
  standby.close();
  sandbox.close();
  lane.close();
  fixture.remove();
});

/** A sandbox that waits at its gate, and its init's pid. */
async function waitingSandbox(): Promise<{ readonly gated: GatedSandbox; readonly init: number }> {
  await expect.poll(() => standby.ready).toBe(1);
  const taken = standby.take();
  if (taken === undefined) throw new Error('One stood by.');
  vi.spyOn(standby, 'take').mockReturnValue(taken);
  const { shell } = fixture.machine;
  const gated = new GatedSandbox({ ...sandbox, shell, journalId: fixture.journalId, standby });
  await once(taken.gate, 'data');
  await setImmediate();
  const said = readFileSync(`/proc/self/fd/${taken.status}`, 'utf8');
  return { gated, init: Number(/"child-pid": *([0-9]+)/u.exec(said)?.[1]) };
}

/** This process does nothing meanwhile, so that it hears of no end. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** `clone3` lets root choose the pid of a new process. */
const startAs = `
  my $pid = pack 'i', shift;
  my $address = unpack 'Q', pack 'P', $pid;
  my $how = pack 'Q11', 0, 0, 0, 0, 17, 0, 0, 0, $address, 1, 0;
  my $started = syscall 435, $how, length $how;
  die "clone3: $!" if $started < 0;
  exit if $started > 0;
  open STDERR, '>', '/dev/null';
  exec 'sleep', '600';`;

function startStranger(pid: number): ProcessIdentity {
  const { status, stderr } = spawnSync('perl', ['-e', startAs, String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  const stranger = hostProcesses.identify(pid);
  if (status !== 0 || stranger === undefined) throw new Error(`No process got that pid: ${stderr}`);
  return stranger;
}

it.each([
  ['a sandbox that died while it waited', true],
  ['one on a machine that has no watches left', false],
])('takes nobody who has the pid of %s for it', async (_, hasWatches) => {
  watches.areLeft = hasWatches;
  const { gated, init } = await waitingSandbox();
  // Start times are told in ticks of ten milliseconds.
  block(50);
  process.kill(init, 'SIGKILL');
  while (existsSync(`/proc/${init}`)) block(1);
  const stranger = startStranger(init);
  try {
    const journalStart = vi.fn(() => Promise.resolve());
    await expect(gated.run({ command: 'true', journalStart })).rejects.toMatchObject({
      code: 'COMMAND_UNAVAILABLE',
    });
    expect(journalStart).not.toHaveBeenCalled();
    expect(hostProcesses.isGone(stranger)).toBe(false);
  } finally {
    hostProcesses.kill(stranger);
  }
});
