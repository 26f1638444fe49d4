import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostProcesses } from '../lanes/processes.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import { LaneFixture } from './testing/lane-fixture.js';

let fixture: LaneFixture;
beforeAll(() => {
  fixture = new LaneFixture(['a']);
});
afterAll(() => {
  fixture.remove();
});

/** A number of seconds that no other run of these tests sleeps. */
const mark = (seconds: number): string => `${seconds}.${process.pid}`;

/** The pids of processes whose arguments hold a word. */
function running(word: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^[0-9]+$/u.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word);
    } catch {
      return false;
    }
  });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('a command', () => {
  it('ends with its own status, output and nothing on standard input', async () => {
    const run = await fixture.inWorktree('a', 'read -r line || echo nothing; echo out; echo err >&2; exit 7');
    expect(run).toMatchObject({
      exitCode: 7,
      stdout: 'nothing\nout\n',
      stderr: 'err\n',
      truncated: false,
      timedOut: false,
    });
    expect(run).not.toHaveProperty('signal');
  });

  it('is run by bash where there is one', async () => {
    expect((await fixture.inWorktree('a', 'echo "${BASH_VERSION:+bash}"')).stdout).toBe('bash\n');
  });

  it('is over when it has left, though a child in the background holds its output [T60]', async () => {
    const run = await fixture.inWorktree('a', `sleep ${mark(4711)} & echo done`, { timeoutMs: 30_000 });
    expect(run).toMatchObject({ exitCode: 0, stdout: 'done\n', timedOut: false, gone: true });
    expect(running(mark(4711))).toEqual([]);
  });

  it('takes every process with it when it times out, whatever they ignore [T61] [T44]', async () => {
    const run = await fixture.inWorktree(
      'a',
      `trap '' TERM INT HUP; for i in 1 2 3; do setsid sh -c "trap '' TERM; nohup sleep ${mark(4712)}" & done; echo started; wait`,
      { timeoutMs: 6_000, graceMs: 100 },
    );
    expect(run).toMatchObject({
      exitCode: null,
      signal: 'SIGKILL',
      timedOut: true,
      gone: true,
      stdout: 'started\n',
    });
    expect(running(mark(4712))).toEqual([]);
  });

  it('takes processes with it that are born while it is killed [T62]', async () => {
    const run = await fixture.inWorktree('a', `f() { while :; do (sleep ${mark(4713)} &) ; done; }; f & f`, {
      timeoutMs: 300,
      graceMs: 0,
    });
    expect(run).toMatchObject({ timedOut: true, gone: true });
    expect(running(mark(4713))).toEqual([]);
  });

  it('may tidy up on TERM before it is killed', async () => {
    const run = await fixture.inWorktree(
      'a',
      `trap 'echo tidied > tidied; exit 0' TERM; sleep ${mark(4714)} & wait`,
      {
        timeoutMs: 6_000,
        graceMs: 30_000,
      },
    );
    expect(run).toMatchObject({ exitCode: null, timedOut: true });
    expect(existsSync(join(fixture.path('a'), 'tidied'))).toBe(true);
  });

  it('is ended by its caller [T63]', async () => {
    const stop = new AbortController();
    const seen: ProcessIdentity[] = [];
    const run = fixture.inWorktree('a', `echo begun > begun; sleep ${mark(4715)}`, {
      signal: stop.signal,
      graceMs: 50,
      journalStart: (init) => {
        seen.push(init);
        return Promise.resolve();
      },
    });
    await until(() => existsSync(join(fixture.path('a'), 'begun')));
    stop.abort();
    expect(await run).toMatchObject({
      ending: { kind: 'cancelled' },
      exitCode: null,
      timedOut: false,
      gone: true,
    });
    expect(seen.map((init) => hostProcesses.isGone(init))).toEqual([true]);
    expect(running(mark(4715))).toEqual([]);
  });

  it('gives its own exit status when something in it died by a signal', async () => {
    expect((await fixture.inWorktree('a', 'kill -9 $$')).exitCode).toBe(137);
  });

  it('is looked at only when every process is gone, and what is said then stands last', async () => {
    const gone: boolean[] = [];
    let init: ProcessIdentity | undefined;
    const run = await fixture.inWorktree(
      'a',
      `for i in $(seq 50); do setsid sleep ${mark(4716)} & done; printf unfinished >&2`,
      {
        journalStart: (identity) => {
          init = identity;
          return Promise.resolve();
        },
        afterwards: () => {
          if (init !== undefined) gone.push(hostProcesses.isGone(init), running(mark(4716)).length === 0);
          return Promise.resolve(['something was put back']);
        },
      },
    );
    expect(gone).toEqual([true, true]);
    expect(run.stderr).toBe('unfinished\ncodelanes: something was put back\n');
  });

  it('is bounded in what it gives back [T67]', async () => {
    const run = await fixture.inWorktree('a', 'yes | head -c 100M; yes no | head -c 50M >&2; echo last', {
      maxOutputBytes: 10_000,
      timeoutMs: 280_000,
    });
    expect(run.exitCode).toBe(0);
    expect(run.truncated).toBe(true);
    expect(Buffer.byteLength(run.stdout) + Buffer.byteLength(run.stderr)).toBeLessThanOrEqual(10_000);
    expect(run.stdout.endsWith('y\nlast\n')).toBe(true);
  }, 300_000);

  it('may hold the longest command that the wire allows', async () => {
    const command = `echo ${'x'.repeat(32 * 1024 - 10)} | wc -c`;
    expect((await fixture.inWorktree('a', command)).stdout).toBe(`${32 * 1024 - 9}\n`);
  });

  it('starts where it is told to', async () => {
    expect((await fixture.inWorktree('a', 'pwd')).stdout).toBe(`${fixture.path('a')}\n`);
  });
});
