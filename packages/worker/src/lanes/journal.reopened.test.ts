import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { laneOf } from '@codelanes/protocol';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Journal } from './journal.js';

/** How often the journal may still be opened to append to it. */
const machine = vi.hoisted(() => ({ opens: Number.POSITIVE_INFINITY }));
vi.mock(import('./append-file.js'), async (original) => {
  const { AppendFile } = await original();
  return {
    AppendFile: class extends AppendFile {
      constructor(file: string) {
        if (machine.opens <= 0) throw new Error('EMFILE: too many open files');
        machine.opens -= 1;
        super(file);
      }
    },
  };
});

const lane = laneOf({ workspaceId: 'primary', worktree: 'a' });
const process = { pid: 4711, startTime: 12, bootId: 'boot' };
const newCall = (): string => randomBytes(16).toString('hex');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-journal-'));
  machine.opens = Number.POSITIVE_INFINITY;
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('takes starts again once the machine lets it open its file, which a compaction could not', async () => {
  const journal = await Journal.open(folder, { compactAfterBytes: 1 });
  machine.opens = 0;
  // Its compaction begins when it has been appended.
  const [first, refused, taken] = [newCall(), newCall(), newCall()];
  await journal.startCommand({ call: first, lane, process });
  await expect(journal.startCommand({ call: refused, lane, process })).rejects.toThrow('EMFILE');
  machine.opens = Number.POSITIVE_INFINITY;
  await journal.startCommand({ call: taken, lane, process });
  await journal.close();
  await expect(journal.startCommand({ call: newCall(), lane, process })).rejects.toThrow('closed');
  const next = await Journal.open(folder);
  expect(next.openEntries().map(({ call }) => call)).toEqual([first, taken]);
  await next.close();
});
