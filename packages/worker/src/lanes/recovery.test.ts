import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { laneOf } from '@codelanes/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from './journal.js';
import { hostProcesses, type ProcessIdentity, type ProcessTable } from './processes.js';
import { Quarantine } from './quarantine.js';
import { journalMark, recover, type Recovered } from './recovery.js';

let folder: string;
let journal: Journal;
let quarantine: Quarantine;
const children: ChildProcess[] = [];
const rootLane = laneOf({ workspaceId: 'primary' });
const a = laneOf({ workspaceId: 'primary', worktree: 'a' });
const newCall = (): string => randomBytes(16).toString('hex');

function start(...words: string[]): ProcessIdentity {
  const child = spawn('perl', ['-e', 'sleep 60', '--', ...words], { stdio: 'ignore' });
  children.push(child);
  const identity = hostProcesses.identify(child.pid ?? 0);
  if (identity === undefined) throw new Error('The process did not start.');
  return identity;
}

function run(processes: ProcessTable = hostProcesses, goneWithinMs = 50_000): Promise<Recovered> {
  return recover({ journal, quarantine, processes, rootLane, goneWithinMs });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-recovery-'));
  journal = await Journal.open(join(folder, 'journal'));
  quarantine = await Quarantine.open(join(folder, 'quarantine'), hostProcesses);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await journal.close();
  await quarantine.close();
  rmSync(folder, { recursive: true });
});

describe('a worker that follows another', () => {
  it('[T70] kills what the other had started, knows that it is gone, and never starts it again', async () => {
    const [call, process] = [newCall(), start()];
    await journal.startCommand({ call, lane: a, process });
    const recovered = await run();
    expect(recovered).toMatchObject({ commands: [{ call }], quarantined: [] });
    expect(hostProcesses.isGone(process)).toBe(true);
    expect(journal.openEntries()).toEqual([]);
    expect(journal.knows(call)).toBe(true);
    expect(quarantine.blocks(a)).toBeUndefined();
  });

  it('does nothing to a process that merely has the pid of an ended one', async () => {
    const innocent = start();
    await journal.startCommand({ call: newCall(), lane: a, process: { ...innocent, startTime: 1 } });
    await journal.startCommand({ call: newCall(), lane: a, process: { ...innocent, bootId: 'before' } });
    expect((await run()).quarantined).toEqual([]);
    expect(hostProcesses.isGone(innocent)).toBe(false);
  });

  it('kills prepared sandboxes that stand in no journal, and none of another worker', async () => {
    const [ours, foreign] = [start(...journalMark, journal.id), start(...journalMark, newCall())];
    expect((await run()).leftOvers).toEqual([ours]);
    expect([hostProcesses.isGone(ours), hostProcesses.isGone(foreign)]).toEqual([true, false]);
  });

  it('[L18] quarantines the lane of what it cannot prove gone, until it is', async () => {
    const [call, process] = [newCall(), start()];
    await journal.startCommand({ call, lane: a, process });
    // As with a process in an uninterruptible wait, the signal has no effect yet.
    const deaf: ProcessTable = { ...hostProcesses, kill: () => undefined };
    expect((await run(deaf, 20)).quarantined).toEqual([a]);
    expect(quarantine.blocks(a)?.processes).toEqual([process]);
    expect(quarantine.blocks(laneOf({ workspaceId: 'primary', worktree: 'b' }))).toBeUndefined();
    expect(journal.openEntries()).toEqual([]);
    expect((await run()).commands).toEqual([]);
    hostProcesses.kill(process);
    await expect.poll(async () => (await quarantine.recheck()).length).toBe(1);
  });

  it('quarantines the root for a prepared sandbox that does not go', async () => {
    start(...journalMark, journal.id);
    const deaf: ProcessTable = { ...hostProcesses, kill: () => undefined };
    expect((await run(deaf, 20)).quarantined).toEqual([rootLane]);
    expect(quarantine.blocks(a)?.lane).toEqual(rootLane);
  });

  it('hands on the writes that had begun', async () => {
    const call = newCall();
    await journal.startWrite({ call, lane: a, path: 'src/f', temporary: 'src/.f.tmp' });
    expect((await run()).writes).toMatchObject([{ call, path: 'src/f', temporary: 'src/.f.tmp' }]);
  });
});
