import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import { hostProcesses } from '../lanes/processes.js';
import { findPerl } from '../network/listener-program.js';
import { descendantsOf } from './process-tree.js';
import { Standby, type StandingBy } from './standby.js';

let fixture: LaneFixture;
let standby: Standby;
beforeAll(() => {
  fixture = new LaneFixture(['a']);
});
beforeEach(() => {
  standby = new Standby(findPerl(), 1);
});
afterEach(() => {
  standby.close();
});
afterAll(() => {
  fixture.remove();
});

const untilReady = () => expect.poll(() => standby.ready).toBe(1);

function takeOne(from: Standby): StandingBy {
  const taken = from.take();
  if (taken === undefined) throw new Error('One was ready.');
  return taken;
}

describe('Standby', () => {
  it('gives a command the very view that a sandbox of a new process gives', async () => {
    const look =
      'env | sort; grep -E "Sig|Cap|NoNew|Seccomp" /proc/self/status; ulimit -a; umask; pwd; ls /proc/self/fd; ' +
      'cut -d" " -f4- /proc/self/mountinfo | sed "s/bindfile[^/]*//"; git status; git config --list';
    const ofNew = await fixture.inWorktree('a', look);
    await untilReady();
    const take = vi.spyOn(standby, 'take');
    const ofReady = await fixture.inWorktree('a', look, { standby });
    expect(take.mock.results[0]?.value).toBeDefined();
    expect(ofReady).toEqual(ofNew);
    expect(ofReady.stdout).toContain('/.git/config');
  });

  it('starts the next one when one was taken', async () => {
    await untilReady();
    await fixture.inWorktree('a', 'true', { standby });
    await untilReady();
    expect((await fixture.inWorktree('a', 'exit 3', { standby })).exitCode).toBe(3);
  });

  it('starts the next one only when nothing is being built, as long as another one is ready', async () => {
    // From the beginning: a timer that runs already is not one that the test lets run.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const two = new Standby(findPerl(), 2);
    onTestFinished(() => {
      two.close();
      vi.useRealTimers();
    });
    await vi.waitFor(() => {
      vi.runAllTimers();
      expect(two.ready).toBe(2);
    }, 30_000);
    vi.runAllTimers();
    const started = descendantsOf(process.pid).length;
    const building = takeOne(two);
    vi.runAllTimers();
    expect([two.ready, descendantsOf(process.pid).length]).toEqual([1, started]);
    const left = once(building.child, 'exit');
    building.gate.destroy();
    await left;
    vi.runAllTimers();
    expect(descendantsOf(process.pid)).toHaveLength(started);
    await vi.waitFor(() => {
      expect(two.ready).toBe(2);
    }, 30_000);
  });

  it('does not wait for what is being built when none is ready', async () => {
    await untilReady();
    const building = takeOne(standby);
    await untilReady();
    expect(building.child.exitCode).toBeNull();
    building.gate.destroy();
  });

  it('passes words of any kind on as they are', async () => {
    await untilReady();
    const words = `'a' "b" $HOME\\n\n\t* ü 💡`;
    const { stdout } = await fixture.inWorktree('a', `cat <<'end'\n${words}\nend`, { standby });
    expect(stdout).toBe(`${words}\n`);
  });

  it('runs the command only when the journal has been written', async () => {
    await untilReady();
    const ran = join(fixture.path('a'), 'ran');
    const refused = fixture.inWorktree('a', 'touch ran', {
      standby,
      journalStart: (init) => {
        expect([hostProcesses.isGone(init), existsSync(ran)]).toEqual([false, false]);
        return Promise.reject(new Error('the disk is full'));
      },
    });
    await expect(refused).rejects.toThrow('the disk is full');
    expect(existsSync(ran)).toBe(false);
  });

  it('says why a sandbox could not be started', async () => {
    await untilReady();
    const run = fixture.inWorktree('a', 'true', { standby, bwrap: '/nowhere/bwrap' });
    await expect(run).rejects.toThrow('/nowhere/bwrap: No such file or directory');
  });

  it('leaves when nobody can give an order any more', async () => {
    await untilReady();
    const taken = takeOne(standby);
    const left = once(taken.child, 'exit');
    taken.gate.destroy();
    expect(await left).toEqual([125, null]);
  });

  it('has nothing ready where a process cannot stand by, and commands run all the same', async () => {
    const useless = new Standby('/bin/false', 1);
    const none = new Standby(undefined, 1);
    for (const each of [useless, none]) {
      expect((await fixture.inWorktree('a', 'echo ran', { standby: each })).stdout).toBe('ran\n');
      expect(each.ready).toBe(0);
      each.close();
    }
  });

  it('goes on where the machine starts no process for a while', async () => {
    const perl = join(fixture.folder, 'perl');
    const later = new Standby(perl, 1);
    onTestFinished(() => {
      later.close();
    });
    await new Promise((resolve) => setImmediate(resolve));
    symlinkSync(findPerl() ?? '', perl);
    expect(later.take()).toBeUndefined();
    await expect.poll(() => later.ready).toBe(1);
  });

  it('goes on where there is no room for temporary files for a while', async () => {
    await untilReady();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    vi.stubEnv('TMPDIR', '/nowhere');
    takeOne(standby).gate.destroy();
    vi.runAllTimers();
    expect(standby.ready).toBe(0);
    vi.unstubAllEnvs();
    standby.take();
    vi.runAllTimers();
    await vi.waitFor(() => {
      expect(standby.ready).toBe(1);
    }, 30_000);
  });

  it('gives nothing out when it is closed', async () => {
    await untilReady();
    standby.close();
    expect([standby.ready, standby.take()]).toEqual([0, undefined]);
  });
});
