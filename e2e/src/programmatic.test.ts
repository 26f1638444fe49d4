import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BridgeOptions } from '@codelanes/bridge';
import { Caller } from './rig/caller.js';
import { Child } from './rig/child.js';
import { Deployment, steadyClocks } from './rig/deployment.js';
import { RedisServer } from './rig/redis-server.js';
import { newMarker, untilGone, untilSleeping } from './rig/live-processes.js';
import { Repository } from './rig/repository.js';
import { completedIn, pauseIn, ScriptCalls, type PausedScript } from './rig/script-calls.js';

const lanes = ['a', 'b', 'c', 'd', 'e', 'gone'];

/** Lines before, between and after three tool calls. */
const linesAndTools = [1, 2, 3]
  .map((number) => `echo ${number} >> lines.txt; look_up '{"n":${number}}' >> found.txt`)
  .concat('echo 4 >> lines.txt; cat lines.txt')
  .join('\n');

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create(...lanes);
  deployment = await Deployment.start(repository, { slots: 2, ...steadyClocks });
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

const saysThatItEnded =
  /^\[The script does not wait for its tools any more: .+ before you run it again\.\]\n$/;
const commandInD = { operation: 'execute_command', command: 'true', worktree: 'd' };

const scriptsIn = (worktree?: string) => new ScriptCalls(deployment.caller(), worktree);
const linesOf = (name: string, worktree: string) => readFileSync(repository.path(name, worktree), 'utf8');

describe('a script in a lane', () => {
  it('calls three tools and writes before, between and after them: each line stands there once', async () => {
    const { stdout } = await scriptsIn('a').run(linesAndTools, ({ n }) => ({ hit: n }));
    expect(stdout).toBe('1\n2\n3\n4\n');
    expect(linesOf('lines.txt', 'a')).toBe('1\n2\n3\n4\n');
    expect(linesOf('found.txt', 'a')).toBe('{"hit":1}\n{"hit":2}\n{"hit":3}\n');
  });

  it('keeps its output where it fails, and says how', async () => {
    const { stdout, stderr } = await scriptsIn('a').run('echo out; echo err >&2; exit 7');
    expect({ stdout, stderr }).toEqual({ stdout: 'out\n[exit code: 7]\n', stderr: 'err\n' });
  });

  it('is handed files, and hands files back', async () => {
    const code = 'cd "$LIBRECHAT_CODE_DATA_DIR"; tr a-z A-Z < in.txt > out.txt';
    const answer = await scriptsIn('a').begin(code, { files: [{ name: 'in.txt', content: 'héllo' }] });
    const [file] = completedIn(answer).files.filter(({ name }) => name === 'out.txt');
    expect(Buffer.from(file?.content ?? '', 'base64').toString()).toMatch(/^H.+LLO$/);
  });

  it('does not wait for ever for a lane that the very tool that it called takes', async () => {
    const caller = deployment.caller();
    const { stdout } = await scriptsIn('b').run(
      'echo one >> shared.txt; look_up "{}"; cat shared.txt',
      () => 'done',
      async () => {
        await caller.run('echo two >> shared.txt', 'b');
        expect((await caller.run('cat .worktrees/b/shared.txt')).stdout).toBe('one\ntwo\n');
      },
    );
    expect(stdout).toBe('done\none\ntwo\n');
  });

  it('whose lane was removed while it waited does not go on, and that is said', async () => {
    const pause = await scriptsIn('gone').pause('look_up "{}"; echo late >> ../../late.txt');
    repository.git('worktree', 'remove', '--force', '.worktrees/gone');
    const { stdout } = completedIn(await scriptsIn('gone').goOn(pause));
    expect(stdout).toMatch(
      /^\[The script was ended while it waited for its tools\..+ before you run it again\.\]\n$/,
    );
    expect(existsSync(repository.path('late.txt'))).toBe(false);
  });

  it('that holds a lock of Git does not wait with it: the tool is not called, and the script is told', async () => {
    const lock = '"$CODELANES_GIT_METADATA/index.lock"';
    const code = `touch ${lock}; look_up '{"n":1}' 2>&1; rm ${lock}; look_up '{"n":2}'`;
    const asked: unknown[] = [];
    const { stdout } = await scriptsIn('a').run(code, ({ n }) => {
      asked.push(n);
      return `found ${String(n)}`;
    });
    expect(asked).toEqual([2]);
    expect(stdout).toContain('The tool was not called: Git holds');
    expect(stdout).toMatch(/found 2\n$/);
  });

  it('waits beside three others; a fifth is not paused, and told so', async () => {
    const waiting = ['a', 'b', 'c', 'd'];
    const pauses = await Promise.all(waiting.map((lane) => scriptsIn(lane).pause('look_up "{}"; echo end')));
    const fifth = await scriptsIn('e').run('look_up "{}" 2>&1; echo "status $?"');
    expect(fifth.stdout).toMatch(/The tool was not called: 4 scripts .+\nstatus [1-9]\d*\n$/);
    const goOn = (pause: PausedScript, index: number) => scriptsIn(waiting[index]).goOn(pause);
    const ends = (await Promise.all(pauses.map(goOn))).map(completedIn);
    expect(ends.map(({ stdout }) => stdout)).toEqual(waiting.map(() => 'found\nend\n'));
    expect((await scriptsIn('e').run('look_up "{}"')).stdout).toBe('found\n');
  });

  it('goes on for its own caller alone, and once', async () => {
    const pause = await scriptsIn('a').pause('look_up "{}"');
    const foreign = await new ScriptCalls(deployment.caller('other'), 'a').goOn(pause);
    expect(foreign).toMatchObject({ status: 404, json: { code: 'CONTINUATION_NOT_FOUND' } });
    expect(completedIn(await scriptsIn('a').goOn(pause)).stdout).toBe('found\n');
    expect(completedIn(await scriptsIn('a').goOn(pause)).stdout).toMatch(saysThatItEnded);
  });

  it('is stopped by the name of its request', async () => {
    const requestId = randomUUID();
    const code = 'touch begun.txt; sleep 100; touch ended.txt';
    const headers = { 'x-librechat-code-request-id': requestId };
    const answer = scriptsIn('c').begin(code, {}, { headers });
    await expect.poll(() => existsSync(repository.path('begun.txt', 'c'))).toBe(true);
    const cancelled = await scriptsIn('c').cancel(requestId);
    expect(cancelled).toMatchObject({ status: 202, json: { status: 'cancellation_requested' } });
    expect((await answer).json).toMatchObject({ code: 'EXECUTION_ABORTED' });
    await deployment.caller().run('true', 'c');
    expect(existsSync(repository.path('ended.txt', 'c'))).toBe(false);
  });
});

describe('a bridge that is killed between two tool calls of a script', () => {
  it('and keeps what it knows in memory has lost it: that is said, and nothing of it runs twice', async () => {
    const marker = newMarker();
    const pause = await scriptsIn('d').pause(`sleep ${marker} & ${linesAndTools}`);
    await untilSleeping(marker);
    await deployment.bridge?.end('SIGKILL');
    await deployment.startBridge();
    // Its worker, which keeps a frozen script for minutes, hears that nobody will let it go on.
    await untilGone(marker);
    const isBack = async () => (await deployment.caller().call(commandInD)).status;
    await expect.poll(isBack).toBe(200);
    const answer = await scriptsIn('d').goOn(pause);
    expect(answer).toMatchObject({ status: 404, json: { code: 'CONTINUATION_NOT_FOUND' } });
    expect(linesOf('lines.txt', 'd')).toBe('1\n');
  });
});

describe('a worker that is killed while a script waits for its tools', () => {
  it('takes it along, so that nothing of it runs on, and its lane is used at once', async () => {
    const marker = newMarker();
    const code = `echo one >> killed.txt; sleep ${marker} & look_up "{}"; echo two >> killed.txt`;
    const pause = await scriptsIn('e').pause(code);
    await untilSleeping(marker);
    await deployment.worker?.end('SIGKILL');
    await deployment.startWorker();
    await untilGone(marker);
    expect(completedIn(await scriptsIn('e').goOn(pause)).stdout).toMatch(saysThatItEnded);
    expect((await deployment.caller().run('cat killed.txt', 'e')).stdout).toBe('one\n');
    expect((await deployment.caller().lanes()).running).toEqual([]);
  });
});

describe('two bridges of one Redis', () => {
  let redis: RedisServer;
  let shared: Repository;
  let second: Deployment;

  beforeAll(async () => {
    redis = await RedisServer.start();
    shared = Repository.create('a');
    second = await Deployment.start(shared, {
      ...steadyClocks,
      bridge: { ...steadyClocks.bridge, store: { kind: 'redis', url: redis.url } },
    });
  });
  afterAll(async () => {
    await second.stop();
    await redis.stop();
    shared.remove();
  });

  /** The other one, on a port of its own. */
  async function otherBridge(): Promise<{ child: Child; scripts: ScriptCalls }> {
    const { caller, other, admin, worker } = second.tokens;
    const { child, announced } = await Child.start('bridge', {
      port: 0,
      tokens: { callers: [caller, other], admin, worker },
      logLevel: 'warn',
      ...steadyClocks.bridge,
      store: { kind: 'redis', url: redis.url },
    } satisfies BridgeOptions);
    return { child, scripts: new ScriptCalls(new Caller(announced, caller, admin), 'a') };
  }

  it('let a script go on whose bridge was killed while it waited: each line stands there once', async () => {
    const there = new ScriptCalls(second.caller(), 'a');
    const here = await otherBridge();
    let pause = await here.scripts.pause(linesAndTools);
    await here.child.end('SIGKILL');
    const answer = await there.goOn(pause, ({ n }) => ({ hit: n }));
    const again = await otherBridge();
    pause = pauseIn(answer);
    const third = pauseIn(await again.scripts.goOn(pause, ({ n }) => ({ hit: n })));
    await again.child.end('SIGKILL');
    expect(completedIn(await there.goOn(third, ({ n }) => ({ hit: n }))).stdout).toBe('1\n2\n3\n4\n');
    expect(readFileSync(shared.path('lines.txt', 'a'), 'utf8')).toBe('1\n2\n3\n4\n');
    expect(readFileSync(shared.path('found.txt', 'a'), 'utf8')).toBe('{"hit":1}\n{"hit":2}\n{"hit":3}\n');
  });
});

describe('the largest file that a script may have', () => {
  /** With usual clocks: it is the leases of quick ones that a busy machine could let end meanwhile. */
  it('is handed to it, and back', async () => {
    const own = Repository.create('a');
    const patient = await Deployment.start(own);
    try {
      const content = randomBytes(10 * 1024 * 1024).toString('base64');
      const files = [{ name: 'in.bin', content, encoding: 'base64' }];
      const code = 'cd "$LIBRECHAT_CODE_DATA_DIR"; cp in.bin out.zip';
      const done = completedIn(await new ScriptCalls(patient.caller(), 'a').begin(code, { files }));
      expect(done).toMatchObject({ stdout: '', stderr: '', files: [{ name: 'out.zip' }] });
      expect(done.files[0]?.content === content).toBe(true);
    } finally {
      await patient.stop();
      own.remove();
    }
  });
});
