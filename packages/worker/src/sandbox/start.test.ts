import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hostProcesses, waitUntilGone, type ProcessIdentity } from '../lanes/processes.js';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import { journalMark } from './bwrap-arguments.js';

let fixture: LaneFixture;
beforeAll(() => {
  fixture = new LaneFixture(['a']);
});
afterAll(() => {
  fixture.remove();
});

const ran = (): boolean => existsSync(join(fixture.path('a'), 'ran'));

describe('a gated start', () => {
  beforeEach(() => {
    fixture.host('rm -f ran', fixture.path('a'));
  });
  afterEach(() => {
    expect(hostProcesses.withArguments(journalMark(fixture.journalId))).toEqual([]);
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
    const run = fixture.inWorktree('a', 'touch ran', { journalStart: () => Promise.reject(new Error('disk full')) });
    await expect(run).rejects.toThrow('disk full');
    expect(ran()).toBe(false);
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
  });

  it('says why the sandbox could not be built', async () => {
    const run = fixture.inWorktree('a', 'touch ran', { bwrap: '/nonexistent/bwrap' });
    await expect(run).rejects.toMatchObject({ code: 'COMMAND_UNAVAILABLE', message: expect.stringContaining('ENOENT') as string });
    const lane = fixture.openWorktree('a');
    try {
      fixture.host('mv .git/objects .git/o2 && mkdir .git/objects && chmod 700 .git/objects && mv .git/o2/* .git/objects');
      const missing = fixture.run({ ...lane, lanePath: `${fixture.root}/file/impossible` }, 'true');
      await expect(missing).rejects.toMatchObject({ code: 'COMMAND_UNAVAILABLE' });
    } finally {
      lane.close();
    }
  });

  it('leaves nothing that runs when the worker is killed at the gate', async () => {
    const script = `
      import { LaneFixture } from ${JSON.stringify(join(import.meta.dirname, '../commands/testing/lane-fixture.ts'))};
    `;
    expect(script).toContain('LaneFixture');
    // A shell stands for the worker: it holds the other end of the gate and is killed without a word.
    const marker = join(fixture.path('a'), 'ran');
    const gate = 'echo r >&3; IFS= read -r word <&3 && [ "$word" = run ] || exit 125; touch "$0"';
    const worker = spawn(
      process.execPath,
      [
        '-e',
        `const { spawn } = require('node:child_process');
         const child = spawn('/usr/bin/bwrap', ['--die-with-parent', '--unshare-pid', '--dev-bind', '/', '/', '--', '/bin/sh', '-c', ${JSON.stringify(gate)}, ${JSON.stringify(marker)}], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
         child.stdio[3].once('data', () => { console.log(child.pid); });`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const pid = await new Promise<number>((resolve) => {
      worker.stdout.once('data', (text: Buffer) => {
        resolve(Number(text.toString()));
      });
    });
    const sandbox = hostProcesses.identify(pid);
    worker.kill('SIGKILL');
    expect(sandbox).toBeDefined();
    if (sandbox !== undefined) expect(await waitUntilGone(hostProcesses, sandbox, { timeoutMs: 5_000 })).toBe(true);
    expect(ran()).toBe(false);
  });
});
