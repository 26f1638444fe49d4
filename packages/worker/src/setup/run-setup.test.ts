import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runInLane } from '../commands/run-in-lane.js';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import type { RepositorySetup } from '../environment/setup.js';
import { pinCheckout } from '../lanes/checkout.js';
import { openWorktree } from '../lanes/verify.js';
import { worktreeLane } from '../sandbox/lane-facts.js';
import { runSetup } from './run-setup.js';
import { newestLog } from './setup-log.js';
import { readRecord, type EndedRecord } from './setup-record.js';
import { SetupStates } from './setup-states.js';

let fixture: LaneFixture;
beforeEach(() => {
  fixture = new LaneFixture(['a']);
});
afterEach(() => {
  fixture.remove();
});

const setup = (command: string, more: Partial<RepositorySetup> = {}): RepositorySetup => ({
  command,
  timeoutMs: 45_000,
  ...more,
});

interface Ran {
  readonly record: EndedRecord;
  readonly log: string;
  readonly leftRunning: readonly string[];
}

/** Runs a setup in the wall of the worktree, as a worker does. */
async function run(
  definition: RepositorySetup,
  stop = new AbortController(),
  onFault = (error: unknown): void => {
    throw error;
  },
): Promise<Ran> {
  const states = SetupStates.open(definition, fixture.state, new Map([['a', 'its birth']]));
  const opened = openWorktree(pinCheckout(fixture.root), 'a');
  const facts = worktreeLane(opened);
  try {
    const record = await runSetup({
      states,
      worktree: { name: 'a', identity: opened.identity },
      facts,
      checkout: opened.checkout.pin,
      lane: ['primary', 'repo:repo', 'worktree:a'],
      root: join(fixture.folder, 'home'),
      repository: 'repo',
      call: 'c'.repeat(32),
      shell: fixture.machine.shell,
      signal: stop.signal,
      run: (command) =>
        runInLane({
          ...command,
          lane: facts,
          home: { lane: 'a', tree: '' },
          machine: fixture.machine,
          shared: fixture.shared,
          maxOutputBytes: 65_536,
          graceMs: 50,
          journalId: fixture.journalId,
          journalStart: () => Promise.resolve(),
        }),
      onFault,
    });
    const log = newestLog(states.folderOf('a')) ?? '';
    return { record, log, leftRunning: states.takeLeftRunning('a') };
  } finally {
    opened.close();
  }
}

/** A shell line that waits until that process is what it was started as: a shell's child is a shell at first. */
const begun = (pid: string) => `until grep -q sleep /proc/${pid}/comm; do :; done`;

const kept = () => readRecord(join(fixture.state, 'setups', 'a'));

describe('a setup', () => {
  it('[M4] runs at the top of the worktree, with every variable of its contract set, and is recorded', async () => {
    const { record, log } = await run(
      setup(
        'set -u; pwd; echo "$CODELANES_SETUP_VERSION|$CODELANES_ROOT|$CODELANES_REPOSITORY|$CODELANES_WORKTREE|$CODELANES_WORKTREE_PATH|$CODELANES_BRANCH"',
      ),
    );
    expect(record.state).toBe('ready');
    expect(kept()).toEqual(record);
    const path = fixture.path('a');
    expect(log).toContain(`${path}\n1|${fixture.folder}/home|repo|a|${path}|lane/a\n`);
  });

  it('[T48] has the branch of a detached HEAD set to nothing', async () => {
    fixture.host('git checkout -q --detach', fixture.path('a'));
    const { log } = await run(setup('set -u; echo "on <$CODELANES_BRANCH>"'));
    expect(log).toContain('on <>\n');
  });

  it('[T52] sees and changes no more than a command of its lane', async () => {
    const { record } = await run(
      setup(
        `cat ${fixture.folder}/home/secret || echo leaked > ${fixture.root}/file || echo x > ${fixture.git}/config || ls ${fixture.state} | grep -q . || exit 7`,
      ),
    );
    expect(record).toMatchObject({ state: 'failed', reason: 'It ended with status 7.' });
    expect(readFileSync(join(fixture.root, 'file'), 'utf8')).toBe('one\n');
  });

  it('fails with the status of its command and the end of what it said, and removes nothing', async () => {
    writeFileSync(join(fixture.path('a'), 'by-hand'), 'of a person');
    const { record, log } = await run(setup('echo half > made; echo "no such package" >&2; exit 3'));
    expect(record).toMatchObject({
      state: 'failed',
      reason: 'It ended with status 3.',
      logEnd: 'no such package',
    });
    expect(log).toContain('codelanes: It ended with status 3.\n');
    expect(kept()).toEqual(record);
    expect(existsSync(join(fixture.path('a'), 'by-hand'))).toBe(true);
    expect(existsSync(join(fixture.path('a'), 'made'))).toBe(true);
  });

  it('that cannot keep its log has not failed: it is faulted, with the reason, and can be run again', async () => {
    const place = join(fixture.state, 'setups/a');
    mkdirSync(dirname(place));
    symlinkSync('/nowhere/at-all', place);
    const faults: unknown[] = [];
    const faulted = await run(setup('touch ran'), undefined, (error) => faults.push(error));
    expect(faulted.record).toMatchObject({
      state: 'faulted',
      reason: 'Its record or its log cannot be written: no such file or directory.',
    });
    expect(faults).toHaveLength(1);
    expect(existsSync(join(fixture.path('a'), 'ran'))).toBe(false);
    rmSync(place);
    expect((await run(setup('touch ran'))).record.state).toBe('ready');
  });

  it('that cannot keep what came of its command has failed: no command has it run again', async () => {
    const setups = join(fixture.state, 'setups');
    const faults: unknown[] = [];
    const definition = setup('echo begun; until [ -e go ]; do sleep 0.05; done');
    const running = run(definition, undefined, (error) => faults.push(error));
    await expect.poll(() => existsSync(join(setups, 'a'))).toBe(true);
    await expect.poll(() => kept()?.state).toBe('running');
    rmSync(setups, { recursive: true });
    writeFileSync(setups, 'where the folder should be');
    writeFileSync(join(fixture.path('a'), 'go'), '');
    expect((await running).record).toMatchObject({
      state: 'failed',
      reason: "What came of it could not be kept: the worker's log says why.",
    });
    expect(faults).toHaveLength(1);
  });

  it('[T44] [T46] is ended with all that it started when its own time is over', async () => {
    const { record } = await run(setup('echo begun; sleep 600 & sleep 600', { timeoutMs: 5_000 }));
    expect(record).toMatchObject({ state: 'failed', logEnd: 'begun' });
    expect(record).toHaveProperty('reason', expect.stringContaining('It took longer than 5 s'));
  });

  it('[T46] is ended with all that it started when it says nothing for longer than it may', async () => {
    const { record } = await run(setup('sleep 600 & sleep 600', { idleTimeoutMs: 5_000 }));
    expect(record).toMatchObject({
      state: 'failed',
      reason: 'It said nothing for 5 s, and was ended with all that it had started.',
    });
  });

  it('[T46] is over when its command is, and says what that left running', async () => {
    const { record, log, leftRunning } = await run(
      setup(`echo done; sleep 600 & one=$!; sleep 601 & ${begun('$one')}; ${begun('$!')}`),
    );
    expect(record).toMatchObject({ state: 'ready', leftRunning: ['sleep', 'sleep'] });
    expect(leftRunning).toEqual(['sleep', 'sleep']);
    expect(log).toMatch(/still running at the end \([0-9a-f]+\): sleep\n/);
  });

  it('does not take what has ended for left running', async () => {
    const { record } = await run(setup('(exit 3) & wait; true'));
    expect(record).toMatchObject({ state: 'ready', leftRunning: [] });
  });

  it('that is stopped is neither ready nor failed', async () => {
    const stop = new AbortController();
    const stopped = run(setup('echo begun; sleep 600'), stop);
    const folder = join(fixture.state, 'setups', 'a');
    await expect.poll(() => existsSync(folder) && newestLog(folder)).toContain('begun');
    expect(kept()?.state).toBe('running');
    stop.abort();
    expect((await stopped).record.state).toBe('interrupted');
    expect(kept()?.state).toBe('interrupted');
  });

  it('begins with the files that it copies, and does not run where one may not be copied', async () => {
    writeFileSync(join(fixture.root, '.env'), 'KEY=1\n');
    const { record } = await run(setup('grep -q KEY=1 .env', { copy: ['.env'] }));
    expect(record.state).toBe('ready');
    symlinkSync(join(fixture.folder, 'home/secret'), join(fixture.root, 'link'));
    const refused = await run(setup('echo ran', { copy: ['link'] }));
    expect(refused.record).toMatchObject({ state: 'failed' });
    expect(refused.record).toHaveProperty('reason', expect.stringContaining('"link" is not a regular file'));
    expect(refused.log).not.toContain('ran\n');
  });

  describe('of a worktree with submodules', () => {
    /** The submodule "lib" in the checkout, filled there, and on the branch of the worktree, empty. */
    const declare = () => {
      const library = join(fixture.folder, 'library');
      fixture.host(
        `git init -q ${library} && cd ${library} && echo 1 > lib.txt && git add . && git commit -qm lib`,
      );
      const add = `git -c protocol.file.allow=always submodule --quiet add --name 'the lib' ${library} 'lib x'`;
      fixture.host(`${add} && git commit -qm submodule && git -C ${fixture.path('a')} merge -q main`);
      return library;
    };

    it('[T35] begins with filling them from the checkout, without a network, as Git would have from their remote', async () => {
      const library = declare();
      rmSync(library, { recursive: true });
      const { record, log } = await run(
        setup(
          "cat 'lib x/lib.txt' && git -C 'lib x' log --format=%s && git -C 'lib x' remote get-url origin",
        ),
      );
      expect(log).toContain(`The submodule "lib x" was taken from the checkout.\n1\nlib\n${library}\n`);
      expect(record.state).toBe('ready');
      expect(fixture.host('git status --short', fixture.path('a'))).toBe('');
    });
  });

  it('that cannot be recorded does not begin, and is faulted', async () => {
    mkdirSync(join(fixture.state, 'setups/a/setup.json'), { recursive: true });
    const faults: unknown[] = [];
    const { record } = await run(setup('touch ran'), undefined, (error) => faults.push(error));
    expect(record).toMatchObject({
      state: 'faulted',
      reason: expect.stringMatching(/^Its record or its log cannot be written: .+\.$/) as string,
    });
    expect(faults).toHaveLength(1);
    expect(existsSync(join(fixture.path('a'), 'ran'))).toBe(false);
  });

  it('[M10] resolves modules of its own branch and not of the checkout', async () => {
    expect(existsSync(join(fixture.root, 'node_modules/leftpad/index.js'))).toBe(true);
    const { record } = await run(setup(`node -e 'require("leftpad")'`));
    expect(record).toHaveProperty('logEnd', expect.stringContaining("Cannot find module 'leftpad'"));
  });
});
