import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RepositorySetup } from '../environment/setup.js';
import { pinCheckout } from '../lanes/checkout.js';
import { hostProcesses } from '../lanes/processes.js';
import { makeSampleRepository, type SampleRepository } from '../lanes/testing/sample-repository.js';
import { openWorktree } from '../lanes/verify.js';
import { worktreeMark } from '../lanes/worktree-mark.js';
import { worktreeBirths } from '../lanes/worktrees.js';
import { setupHash } from './setup-key.js';
import { readRecords, type EndedRecord, type SetupRecord } from './setup-record.js';
import { SetupStates } from './setup-states.js';

const there = new Map([['a', 'its birth']]);
const setup: RepositorySetup = { command: 'npm ci', timeoutMs: 1_000 };
let repository: SampleRepository;
let stateDir: string;

beforeEach(() => {
  repository = makeSampleRepository('a');
  stateDir = mkdtempSync(join(tmpdir(), 'codelanes-setups-'));
});
afterEach(() => {
  repository.remove();
  rmSync(stateDir, { recursive: true });
});

function worktree(name = 'a') {
  const opened = openWorktree(pinCheckout(repository.root), name);
  opened.close();
  return { name, identity: opened.identity };
}

const begun = (definition = setup) => ({
  version: 1 as const,
  lane: ['primary', 'repo:api', 'worktree:a'],
  worktree: worktreeMark(worktree().identity),
  setup: setupHash(definition),
  call: 'c'.repeat(32),
  startedAt: Date.now(),
});
const ready = (): EndedRecord => ({ ...begun(), endedAt: Date.now(), state: 'ready', leftRunning: [] });

function running(): SetupRecord {
  const worker = hostProcesses.identify(process.pid);
  if (worker === undefined) throw new Error('This process runs.');
  return { ...begun(), state: 'running', worker };
}

describe('how far a worktree is with its setup', () => {
  it('is unready until a run of that very definition ended well there, and stays ready over a restart', async () => {
    const states = SetupStates.open(setup, stateDir, there);
    expect(states.of(worktree())).toEqual({ state: 'unready' });
    await states.keep('a', running());
    expect(states.of(worktree())).toEqual({ state: 'unready' });
    await states.keep('a', ready());
    expect(states.of(worktree())).toEqual({ state: 'ready' });
    expect(SetupStates.open(setup, stateDir, there).of(worktree())).toEqual({ state: 'ready' });
    const changed = SetupStates.open({ ...setup, command: 'npm install' }, stateDir, there);
    expect(changed.of(worktree())).toEqual({ state: 'unready' });
  });

  it('[T51] is not taken over by a worktree that is made anew under the same name', async () => {
    const states = SetupStates.open(setup, stateDir, there);
    await states.keep('a', ready());
    for (let round = 0; round < 5; round += 1) {
      repository.git('worktree', 'remove', '.worktrees/a');
      repository.git('worktree', 'add', '-q', '.worktrees/a', 'lane/a');
      expect(states.of(worktree())).toEqual({ state: 'unready' });
      await states.keep('a', ready());
      expect(states.of(worktree())).toEqual({ state: 'ready' });
    }
  });

  it('is unready after a worker that died in the middle, and its setup is wanted at once', async () => {
    const states = SetupStates.open(setup, stateDir, there);
    await states.keep('a', running());
    const after = SetupStates.open(setup, stateDir, there);
    expect(after.of(worktree())).toEqual({ state: 'unready' });
    expect(after.wanted).toEqual(['a']);
    expect(SetupStates.open(setup, stateDir, new Map()).wanted).toEqual([]);
  });

  it('is unready where its record cannot be read', async () => {
    const states = SetupStates.open(setup, stateDir, there);
    await states.keep('a', ready());
    writeFileSync(join(states.folderOf('a'), 'setup.json'), '{"version":');
    expect(SetupStates.open(setup, stateDir, there).of(worktree())).toEqual({ state: 'unready' });
  });

  it('[T51] wants worktrees that appear, and runs one setup however many ask for it', async () => {
    const states = SetupStates.open(setup, stateDir, new Map());
    states.look(there);
    states.look(there);
    expect(states.wanted).toEqual(['a']);
    let runs = 0;
    const begin = async () => {
      runs += 1;
      await states.keep('a', ready());
      return ready();
    };
    await Promise.all(Array.from({ length: 10 }, () => states.run(worktree(), begin)));
    expect(runs).toBe(1);
    expect(states.wanted).toEqual([]);
  });

  it('[T51] wants a worktree that one command removed and made anew under its name', () => {
    const states = SetupStates.open(setup, stateDir, worktreeBirths(pinCheckout(repository.root)));
    states.look(worktreeBirths(pinCheckout(repository.root)));
    expect(states.wanted).toEqual([]);
    repository.git('worktree', 'remove', '.worktrees/a');
    repository.git('worktree', 'add', '-q', '.worktrees/a', 'lane/a');
    states.look(worktreeBirths(pinCheckout(repository.root)));
    expect(states.wanted).toEqual(['a']);
  });

  it('is unready again when an operator retries it, unless it is under way', async () => {
    const states = SetupStates.open(setup, stateDir, there);
    await states.keep('a', { ...begun(), endedAt: 1, state: 'failed', reason: 'No.', logEnd: '' });
    expect(states.of(worktree())).toMatchObject({ state: 'failed', record: { reason: 'No.' } });
    expect(await states.retry('a')).toBe(true);
    expect(states.of(worktree())).toEqual({ state: 'unready' });
    expect(states.wanted).toEqual(['a']);
    expect(SetupStates.open(setup, stateDir, there).wanted).toEqual(['a']);
    const run = states.run(worktree(), async () => {
      await states.keep('a', ready());
      return ready();
    });
    expect(await states.retry('a')).toBe(false);
    expect(await states.retry('b')).toBe(false);
    await run;
    expect(states.of(worktree())).toEqual({ state: 'ready' });
  });

  it('forgets worktrees that have been gone for a week, and their logs', async () => {
    const states = SetupStates.open(setup, stateDir, there);
    await states.keep('a', { ...begun(), endedAt: 1, state: 'ready', leftRunning: [] });
    await states.keep('b', { ...begun(), endedAt: Date.now(), state: 'ready', leftRunning: [] });
    const again = SetupStates.open(setup, stateDir, new Map());
    expect(again.wanted).toEqual([]);
    expect([...readRecords(stateDir).keys()]).toEqual(['b']);
  });
});
