import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hostProcesses, waitUntilGone, type ProcessIdentity } from '../lanes/processes.js';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import { noNetwork } from '../environment/network-policy.js';
import { bwrapArguments, journalMark } from './bwrap-arguments.js';
import { gateProgram } from './gate.js';
import { defaultLimits, type Policy } from './policy.js';

let fixture: LaneFixture;
beforeAll(() => {
  fixture = new LaneFixture(['a']);
});
afterAll(() => {
  fixture.remove();
});

const ran = (): boolean => existsSync(join(fixture.path('a'), 'ran'));

const leftOvers = (): ProcessIdentity[] => hostProcesses.withArguments(journalMark(fixture.journalId));

describe('a gated start', () => {
  beforeEach(() => {
    fixture.host('rm -f ran', fixture.path('a'));
  });

  it('runs the command only when the journal has been written', async () => {
    const order: string[] = [];
    await fixture.inWorktree('a', 'touch ran', {
      journalStart: async (init) => {
        expect(hostProcesses.isGone(init)).toBe(false);
        await new Promise((resolve) => setTimeout(resolve, 100));
        order.push(ran() ? 'ran' : 'not yet');
      },
    });
    expect([...order, ran()]).toEqual(['not yet', true]);
    expect(leftOvers()).toEqual([]);
  });

  it('looks at what has to be in order first, journals, and says that it starts', async () => {
    const order: string[] = [];
    const note = (word: string): void => {
      order.push(ran() ? `${word} too late` : word);
    };
    let journalled: ProcessIdentity | undefined;
    await fixture.inWorktree('a', 'touch ran', {
      beforeStart: () => {
        note('look');
      },
      journalStart: (init) => {
        note('journal');
        journalled = init;
        return Promise.resolve();
      },
      onStart: (init) => {
        note('start');
        expect(init).toEqual(journalled);
      },
    });
    expect([...order, ran()]).toEqual(['look', 'journal', 'start', true]);
  });

  it('neither journals nor starts where something is not in order', async () => {
    const told: string[] = [];
    const run = fixture.inWorktree('a', 'touch ran', {
      beforeStart: () => {
        throw new Error('the lane was replaced');
      },
      journalStart: () => {
        told.push('journal');
        return Promise.resolve();
      },
      onStart: () => {
        told.push('start');
      },
    });
    await expect(run).rejects.toThrow('the lane was replaced');
    expect([told, ran()]).toEqual([[], false]);
    expect(leftOvers()).toEqual([]);
  });

  it('gives up a start only when nothing of it is being written any more', async () => {
    const order: string[] = [];
    const stop = new AbortController();
    const run = fixture.inWorktree('a', 'touch ran', {
      signal: stop.signal,
      journalStart: async () => {
        stop.abort();
        await new Promise((resolve) => setTimeout(resolve, 200));
        order.push('written');
      },
    });
    await run.catch(() => order.push('given up'));
    expect([...order, ran()]).toEqual(['written', 'given up', false]);
  });

  it("gives the journal the pid and start time of the namespace's init", async () => {
    let init: ProcessIdentity | undefined;
    await fixture.inWorktree('a', 'true', {
      journalStart: (identity) => {
        init = identity;
        const stat = readFileSync(`/proc/${identity.pid}/stat`, 'utf8');
        expect(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]).toBe(String(identity.startTime));
        expect(readFileSync(`/proc/${identity.pid}/status`, 'utf8')).toMatch(/^NSpid:\t[0-9]+\t1$/mu);
        return Promise.resolve();
      },
    });
    expect(init?.bootId).toBe(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  });

  it('never starts when the journal cannot be written', async () => {
    const run = fixture.inWorktree('a', 'touch ran', {
      journalStart: () => Promise.reject(new Error('disk full')),
    });
    await expect(run).rejects.toThrow('disk full');
    expect(ran()).toBe(false);
    expect(leftOvers()).toEqual([]);
  });

  it('never starts when the call was stopped before or while it was journalled', async () => {
    const early = fixture.inWorktree('a', 'touch ran', { signal: AbortSignal.abort() });
    await expect(early).rejects.toMatchObject({ code: 'EXECUTION_ABORTED' });
    const stop = new AbortController();
    const late = fixture.inWorktree('a', 'touch ran', {
      signal: stop.signal,
      journalStart: () => {
        stop.abort();
        return Promise.resolve();
      },
    });
    await expect(late).rejects.toMatchObject({ code: 'EXECUTION_ABORTED' });
    expect(ran()).toBe(false);
    expect(leftOvers()).toEqual([]);
  });

  it('says why the sandbox could not be built', async () => {
    const run = fixture.inWorktree('a', 'touch ran', { bwrap: '/nonexistent/bwrap' });
    await expect(run).rejects.toMatchObject({
      code: 'COMMAND_UNAVAILABLE',
      message: expect.stringContaining('ENOENT') as string,
    });
    const silent = fixture.inWorktree('a', 'touch ran', { bwrap: '/bin/false' });
    await expect(silent).rejects.toMatchObject({ code: 'COMMAND_UNAVAILABLE' });
    expect(ran()).toBe(false);
  });

  it('leaves nothing that runs when the worker is killed at the gate', async () => {
    // Another Node stands for the worker: it holds the other end of the gate and is killed without a word.
    const root = fixture.path('a');
    const policy: Policy = {
      mounts: [
        { kind: 'writable', path: '/', source: { from: 'path', path: '/' } },
        { kind: 'devices', path: '/dev' },
        { kind: 'processes', path: '/proc' },
      ],
      environment: {},
      workingDirectory: root,
      network: noNetwork,
      limits: defaultLimits,
    };
    const words = bwrapArguments(policy, {
      journalId: fixture.journalId,
      descriptors: new Map(),
      texts: new Map(),
      statusDescriptor: 4,
      program: gateProgram('/bin/sh', defaultLimits),
    });
    const script = `
      const child = require('node:child_process').spawn('/usr/bin/bwrap', ${JSON.stringify(words)}, {
        stdio: ['ignore', 'ignore', 'inherit', 'pipe', require('node:fs').openSync(${JSON.stringify(join(root, 'status'))}, 'w+')],
      });
      child.stdio[3].once('data', () => { console.log(child.pid); });`;
    const worker = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = await new Promise<number>((resolve) => {
      worker.stdout.once('data', (text: Buffer) => {
        resolve(Number(text.toString()));
      });
    });
    expect(hostProcesses.identify(pid)).toBeDefined();
    const marked = hostProcesses.withArguments(journalMark(fixture.journalId));
    expect(marked.length).toBeGreaterThan(1);
    worker.kill('SIGKILL');
    const gone = marked.map((one) => waitUntilGone(hostProcesses, one, { timeoutMs: 60_000 }));
    expect(new Set(await Promise.all(gone))).toEqual(new Set([true]));
    expect(ran()).toBe(false);
  });
});
