import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { laneOf } from '@codelanes/protocol';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JournalDamaged } from './journal-record.js';
import { Journal, combinedJournalId, type JournalOptions } from './journal.js';

let folder: string;
let opened: Journal[];
const lane = laneOf({ workspaceId: 'primary', worktree: 'a' });
const process = { pid: 4711, startTime: 12, bootId: 'boot' };
const newCall = (): string => randomBytes(16).toString('hex');
const file = (): string => join(folder, 'journal.jsonl');

async function open(options?: JournalOptions): Promise<Journal> {
  const journal = await Journal.open(folder, options);
  opened.push(journal);
  return journal;
}

async function reopen(options?: JournalOptions): Promise<Journal> {
  for (const journal of opened.splice(0)) await journal.close();
  return open(options);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-journal-'));
  opened = [];
});
afterEach(async () => {
  for (const journal of opened) await journal.close();
  rmSync(folder, { recursive: true });
});

describe('the journal', () => {
  it('keeps its random id over restarts', async () => {
    const { id } = await open();
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect((await reopen()).id).toBe(id);
  });

  it('has a start on disk before its promise resolves', async () => {
    const journal = await open();
    const [command, write] = [newCall(), newCall()];
    await journal.startCommand({ call: command, lane, process });
    expect(readFileSync(file(), 'utf8')).toContain(command);
    await journal.startWrite({ call: write, lane, path: 'f', temporary: '.f.tmp' });
    expect(readFileSync(file(), 'utf8')).toContain(write);
  });

  it('[T71] never starts a call that it knows, not even while the first start is being written or after its end', async () => {
    const journal = await open();
    const call = newCall();
    const first = journal.startCommand({ call, lane, process });
    await expect(journal.startCommand({ call, lane, process })).rejects.toThrow('never started twice');
    await first;
    await journal.end(call);
    expect(journal.knows(call)).toBe(true);
    expect(journal.knows(newCall())).toBe(false);
    const next = await reopen();
    await expect(next.startCommand({ call, lane, process })).rejects.toThrow('never started twice');
  });

  it('tells after a restart what had started and not ended', async () => {
    const journal = await open();
    const calls = [newCall(), newCall(), newCall()] as const;
    await journal.startCommand({ call: calls[0], lane, process });
    await journal.startWrite({ call: calls[1], lane, path: 'f', temporary: '.f.tmp' });
    await journal.startCommand({ call: calls[2], lane, process });
    await journal.end(calls[0]);
    expect((await reopen()).openEntries()).toMatchObject([
      { kind: 'write', call: calls[1], lane, path: 'f', temporary: '.f.tmp' },
      { kind: 'command', call: calls[2], lane, process },
    ]);
  });

  it('forgets an ended call after a day and an open one never', async () => {
    const [ended, running] = [newCall(), newCall()];
    const day = 24 * 60 * 60 * 1000;
    const journal = await open({ now: () => 1000 });
    for (const call of [ended, running]) await journal.startCommand({ call, lane, process });
    await journal.end(ended);
    expect((await reopen({ now: () => 1000 + day })).knows(ended)).toBe(true);
    const later = await reopen({ now: () => 1001 + day });
    expect([later.knows(ended), later.knows(running)]).toEqual([false, true]);
  });

  it('lets a call of that id start anew after that day, also where it was open all along', async () => {
    const call = newCall();
    const day = 24 * 60 * 60 * 1000;
    let now = 1000;
    const journal = await open({ now: () => now });
    await journal.startCommand({ call, lane, process });
    await journal.end(call);
    now += day;
    await expect(journal.startCommand({ call, lane, process })).rejects.toThrow(/never started twice/);
    now += 1;
    await journal.startCommand({ call, lane, process });
    expect(journal.openEntries()).toMatchObject([{ call }]);
    await journal.end(call);
    expect(journal.knows(call)).toBe(true);
  });

  it('is rewritten when it has grown, while calls go on, and loses none', async () => {
    const journal = await open({ compactAfterBytes: 2000, rememberMs: -1 });
    const running = Array.from({ length: 40 }, newCall);
    await Promise.all(
      running.map(async (call) => {
        for (let turn = 0; turn < 5; turn += 1) {
          const short = newCall();
          await journal.startCommand({ call: short, lane, process });
          await journal.end(short);
        }
        await journal.startCommand({ call, lane, process });
      }),
    );
    const next = await reopen();
    expect(
      next
        .openEntries()
        .map(({ call }) => call)
        .sort(),
    ).toEqual([...running].sort());
    // 440 records of some 150 bytes were written.
    expect(statSync(file()).size).toBeLessThan(20_000);
  });

  it('survives being cut at any byte: what had been synced before is known, the torn line is not', async () => {
    const journal = await open();
    const calls = Array.from({ length: 4 }, newCall);
    for (const call of calls) await journal.startCommand({ call, lane, process });
    const whole = readFileSync(file());
    const ends = [...whole.entries()].filter(([, byte]) => byte === 10).map(([index]) => index + 1);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: whole.length }), async (cut) => {
        writeFileSync(file(), whole);
        truncateSync(file(), cut);
        const next = await reopen();
        const synced = ends.filter((end) => end <= cut).length;
        expect(calls.filter((call) => next.knows(call))).toEqual(calls.slice(0, synced));
        await next.startCommand({ call: newCall(), lane, process });
      }),
      { numRuns: 40 },
    );
  });

  it('is refused when a line before a whole one is broken', async () => {
    const journal = await open();
    await journal.startCommand({ call: newCall(), lane, process });
    const text = readFileSync(file(), 'utf8');
    await reopen();
    writeFileSync(file(), `broken\n${text}`);
    await expect(Journal.open(folder)).rejects.toThrow(JournalDamaged);
    writeFileSync(file(), text);
    appendFileSync(file(), '\0\0\0\n\0\0');
    await open();
  });
});

describe('the id of a worker with several roots', () => {
  it('is that of its journals together, in whatever order', () => {
    const [one, other] = [newCall(), newCall()];
    expect(combinedJournalId([one])).toBe(one);
    expect(combinedJournalId([one, other])).toBe(combinedJournalId([other, one]));
    expect(combinedJournalId([one, other])).toMatch(/^[0-9a-f]{32}$/);
    expect(combinedJournalId([one, other])).not.toBe(one);
  });
});
