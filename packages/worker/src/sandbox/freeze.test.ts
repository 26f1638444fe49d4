import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import { freeze, isAtRest } from './freeze.js';
import { descendantsOf } from './process-tree.js';

let fixture: LaneFixture;
beforeAll(() => {
  fixture = new LaneFixture(['a']);
});
afterAll(() => {
  fixture.remove();
});

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** In this time whoever can be stopped has been, on any machine. */
const patient = { ms: 30_000, looks: 1 };
const file = (name: string): string => join(fixture.path('a'), name);

/** Runs a command until the work with its sandbox is done. */
async function during(command: string, work: (init: ProcessIdentity) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  let init: ProcessIdentity | undefined;
  const running = fixture.inWorktree('a', command, {
    signal: stop.signal,
    graceMs: 0,
    onStart: (started) => {
      init = started;
    },
  });
  try {
    await expect.poll(() => existsSync(file('up'))).toBe(true);
    if (init === undefined) throw new Error('It runs and was not started.');
    await work(init);
  } finally {
    stop.abort();
    await running;
    fixture.host('rm -f up grown', fixture.path('a'));
  }
}

const grow = 'while :; do echo . >>grown; done';

describe('a frozen sandbox', () => {
  it.each([
    ['one that ignores every signal that can be', `trap '' TERM INT HUP QUIT TSTP CONT; touch up; ${grow}`],
    [
      'orphans in sessions of their own',
      `for i in 1 2 3; do (setsid sh -c '${grow}' &); done; touch up; sleep 99`,
    ],
    [
      'a storm of forks',
      `storm() { while :; do (echo . >>grown) & (echo . >>grown); done; }; for i in 1 2 3 4; do storm & done; touch up; wait`,
    ],
  ])('does nothing until it is let go on: %s', async (_what, command) => {
    await during(command, async (init) => {
      await expect.poll(() => existsSync(file('grown'))).toBe(true);
      const frozen = await freeze(init, patient);
      const { size } = statSync(file('grown'));
      await wait(150);
      expect(statSync(file('grown')).size).toBe(size);
      expect(frozen).toBeDefined();
      frozen?.thaw();
      await expect.poll(() => statSync(file('grown')).size).toBeGreaterThan(size);
    });
  });

  it('tells when somebody has been woken', async () => {
    await during(`(${grow}) & echo $! >up; wait`, async (init) => {
      const frozen = await freeze(init, patient);
      expect(frozen?.isStill()).toBe(true);
      for (const pid of descendantsOf(init.pid)) process.kill(pid, 'SIGCONT');
      expect(frozen?.isStill()).toBe(false);
    });
  });

  it('lets go on only what it has stopped itself', async () => {
    await during(
      `(${grow}) & kill -STOP $!; until grep -q '^State:.T' /proc/$!/status; do :; done; echo $! >up; sleep 99`,
      async (init) => {
        const frozen = await freeze(init, patient);
        const size = (): number => (existsSync(file('grown')) ? readFileSync(file('grown')).length : 0);
        const before = size();
        frozen?.thaw();
        await wait(100);
        expect(size()).toBe(before);
      },
    );
  });

  it('is had where its time is over before anybody could stop, as on a machine that gives nobody any', async () => {
    await during(`touch up; ${grow}`, async (init) => {
      expect((await freeze(init, { ms: 0, looks: 10_000 }))?.isStill()).toBe(true);
    });
  });

  it('is not had within no time, and then all goes on', async () => {
    await during(`touch up; ${grow}`, async (init) => {
      expect(await freeze(init, { ms: 0, looks: 0 })).toBeUndefined();
      await expect.poll(() => existsSync(file('grown'))).toBe(true);
      const { size } = statSync(file('grown'));
      await expect.poll(() => statSync(file('grown')).size).toBeGreaterThan(size);
    });
  });
});

it('is at rest when everybody in it waits, and not while somebody works', async () => {
  await during('touch up; sleep 99 & wait', async (init) => {
    await expect.poll(() => isAtRest(init)).toBe(true);
  });
  await during(': >up; while :; do :; done', async (init) => {
    await expect.poll(() => isAtRest(init)).toBe(false);
  });
});
