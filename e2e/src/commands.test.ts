import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asCaller, Cli } from './rig/cli.js';
import { Deployment } from './rig/deployment.js';
import { newMarker, processesWith, untilGone } from './rig/live-processes.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a', 'b');
  deployment = await Deployment.start(repository, {
    worker: { killGraceMs: 100, clocks: { requestMs: 1_000 } },
  });
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

const run = (command: string, more: object = {}) => deployment.caller().run(command, 'a', { more });

describe('the end of a command', () => {
  it('[T60] comes when it leaves, whatever it started in the background holds its output open', async () => {
    const marker = newMarker();
    const result = await run(`sleep ${marker} & echo done`);
    expect(result).toMatchObject({ exitCode: 0, stdout: 'done\n' });
    expect(processesWith(marker)).toEqual([]);
  });

  it('[T61] takes every process with it, those of other sessions and groups too', async () => {
    const marker = newMarker();
    const result = await run(
      `setsid nohup sleep ${marker} >/dev/null 2>&1 & (setsid sleep ${marker} &); exit 3`,
    );
    expect(result.exitCode).toBe(3);
    expect(processesWith(marker)).toEqual([]);
  });

  it('[T61] comes at its time-out, with the whole tree', async () => {
    const marker = newMarker();
    const command = `trap '' TERM; echo begun; setsid sleep ${marker} & setsid sleep ${marker} & wait; sleep 100`;
    const result = await run(command, { timeoutMs: 6_000 });
    expect(result).toMatchObject({ timedOut: true, exitCode: null, signal: 'SIGKILL', stdout: 'begun\n' });
    expect(processesWith(marker)).toEqual([]);
  });

  it('[T62] leaves nothing of a loop that forks faster than anybody can count', async () => {
    const marker = newMarker();
    const loop = `while :; do (setsid sh -c "sleep 0.3; : ${marker}" &) ; sleep 0.002; done`;
    const result = await run(loop, { timeoutMs: 700 });
    expect(result.timedOut).toBe(true);
    await untilGone(marker);
    expect(await run('true')).toMatchObject({ exitCode: 0 });
  });

  it.each(['queue', 'run', 'overhead'])('is counted with the time of its %s', async (part) => {
    await run('true');
    const counted = new RegExp(
      `^codelanes_${part}_seconds_count\\{operation="execute_command"\\} [1-9]`,
      'm',
    );
    await expect.poll(() => deployment.caller().metrics()).toMatch(counted);
  });

  it('[T03] is told as it was: any status, and the signal that a shell saw', async () => {
    for (const code of [0, 1, 42, 125, 126, 127, 255]) {
      expect(await run(`exit ${code}`)).toMatchObject({ exitCode: code, timedOut: false });
    }
    expect((await run('sh -c "kill -9 \\$\\$"; exit $?')).exitCode).toBe(137);
    expect((await run('no-such-program')).exitCode).toBe(127);
  });

  it('[T03] is told on the command line with the status of the command, or that of its time-out', async () => {
    const environment = asCaller(deployment);
    const exec = (...words: string[]) => Cli.run(['exec', '--worktree', 'a', ...words], { environment });
    const exited = await exec('--', 'echo out; echo err >&2; exit 7');
    expect(exited).toEqual({ status: 7, stdout: 'out\n', stderr: 'err\n' });
    const timedOut = await exec('--timeout', '0.3', '--', 'sleep 100');
    expect(timedOut.status).toBe(124);
    expect(timedOut.stderr).toContain('ran out of time');
    const words = await exec('--', 'printf', '%s|', 'a b', '$HOME', "it's");
    expect(words.stdout).toBe("a b|$HOME|it's|");
  });

  it('[T64] is bounded by one deadline only, which reaches the limit of the protocol', async () => {
    const status = await deployment.caller().send('GET', '/v1/bridge/workers/w1/status');
    expect(status.json).toMatchObject({ maxCommandTimeoutMs: 300_000 });
    // Longer than any request of the worker's may take, by its clocks here.
    expect(await run('sleep 2.5; echo slept', { timeoutMs: 300_000 })).toMatchObject({ stdout: 'slept\n' });
  });

  it('reads nothing: its standard input is closed', async () => {
    expect(await run('cat; read x || echo nothing')).toMatchObject({ exitCode: 0, stdout: 'nothing\n' });
  });
});

describe('the output of a command', () => {
  it('[T66] keeps characters whole that arrive in pieces', async () => {
    const result = await run(`i=0; s=; while [ $i -lt 500 ]; do s="$s你你你你你你你你你你"; i=$((i+1)); done
      for i in 1 2 3 4 5 6 7 8 9 10; do printf %s "$s"; done`);
    expect(result.stdout).toBe('你'.repeat(50_000));
    expect(result.truncated).toBe(false);
    const split = await run(
      `printf '\\344'; sleep 0.1; printf '\\275'; sleep 0.1; printf '\\240'; printf '\\377'`,
    );
    expect(split.stdout).toBe('你\u{fffd}');
  });

  it('[T67] [T68] is bounded, with head, tail and the exact number of bytes between, and keeps the status', async () => {
    const result = await run(`echo head; yes | head -c 200000000; echo tail; exit 9`, {
      maxOutputBytes: 10_000,
      timeoutMs: 240_000,
    });
    expect(result).toMatchObject({ exitCode: 9, truncated: true });
    expect(Buffer.byteLength(result.stdout)).toBeLessThanOrEqual(10_000);
    expect(result.stdout).toMatch(/^head\ny\n/);
    expect(result.stdout).toMatch(/\ny\ntail\n$/);
    const omission = /\n\[\.\.\. (\d+) bytes omitted \.\.\.\]\n/.exec(result.stdout);
    const shown = Buffer.byteLength(result.stdout) - Buffer.byteLength(omission?.[0] ?? '');
    expect(Number(omission?.[1]) + shown).toBe(200_000_000 + 'head\n'.length + 'tail\n'.length);
  }, 280_000);

  it('[T66] [T68] is cut between characters, on both streams together', async () => {
    const result = await run(
      `for i in 1 2 3 4 5 6 7 8; do printf '你%.0s' $(seq 1000); printf '好%.0s' $(seq 1000) >&2; done`,
      {
        maxOutputBytes: 4_001,
      },
    );
    expect(result.truncated).toBe(true);
    expect(Buffer.byteLength(result.stdout) + Buffer.byteLength(result.stderr)).toBeLessThanOrEqual(4_001);
    expect(`${result.stdout}${result.stderr}`).not.toContain('\u{fffd}');
  });
});

describe('what lanes share', () => {
  it('[T42] is no network: commands of two lanes listen on one port, and neither meets the other', async () => {
    const server = (answer: string) => `
      const net = require('node:net');
      net.createServer((c) => c.end('${answer}')).listen(3000, '127.0.0.1', () => {
        setTimeout(() => net.connect(3000, '127.0.0.1').on('data', (d) => { console.log(String(d)); process.exit(); }), 700);
      }).on('error', (e) => { console.log(e.code); process.exit(1); });`;
    const listen = (lane: string) =>
      deployment.caller().run(`node -e "${server(lane).replaceAll('"', '\\"')}"`, lane);
    const [a, b] = await Promise.all([listen('a'), listen('b')]);
    expect([a.stdout, b.stdout]).toEqual(['a\n', 'b\n']);
  });

  it('[T43] is the stash, as long as lanes share Git storage: what one lane puts there another one sees', async () => {
    const caller = deployment.caller();
    const put = await caller.run('echo changed >file.txt && git stash --quiet && git stash list', 'a');
    expect(put).toMatchObject({ exitCode: 0 });
    expect(put.stdout).toContain('stash@{0}: WIP on lane/a');
    expect((await caller.run('git stash list', 'b')).stdout).toBe(put.stdout);
    expect(await caller.run('git stash drop --quiet', 'a')).toMatchObject({ exitCode: 0 });
  });

  it('clears the index.lock that a stopped Git left, and leaves one of a command that ended by itself', async () => {
    const lock = repository.path('.git/worktrees/a/index.lock');
    await run(`touch ${lock}; sleep 100`, { timeoutMs: 6_000 });
    expect(await run('git commit --allow-empty --quiet --message=next')).toMatchObject({ exitCode: 0 });
    await run(`touch ${lock}`);
    expect((await run(`ls ${lock}; rm ${lock}`)).stdout).toBe(`${lock}\n`);
  });
});
