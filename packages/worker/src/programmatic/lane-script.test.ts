import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '@codelanes/protocol';
import { hostProcesses } from '../lanes/processes.js';
import { ScriptFixture } from './testing/script-fixture.js';

let fixture: ScriptFixture;
beforeAll(async () => {
  fixture = await ScriptFixture.make();
});
afterAll(() => {
  fixture.remove();
});

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const inLane = (name: string): string => join(fixture.lanes.path('a'), name);

describe('a script', () => {
  it('runs once, over all its pauses: what it writes before, between and after its tools is there once', async () => {
    const { ended, pauses } = await fixture.run(
      'echo 1 >>once; look_up "{}"; echo 2 >>once; look_up "{}"; echo 3 >>once; boom "{}"; echo 4 >>once; exit 7',
    );
    expect(pauses).toHaveLength(3);
    expect(readFileSync(inLane('once'), 'utf8')).toBe('1\n2\n3\n4\n');
    expect(ended.outcome).toMatchObject({ exitCode: 7, stdout: '{}\n{}\n{}\n', stderr: '', gone: true });
  });

  it('is told of its tools by the names that they were registered under', async () => {
    const { pauses } = await fixture.run('web_search "{\\"q\\":1}"; _7z; in_tool; search_v2', {
      tools: ['web-search', '7z', 'in', 'search.v2!'],
    });
    expect(pauses.flat()).toEqual([
      { id: 'call_001', name: 'web-search', input: { q: 1 } },
      { id: 'call_002', name: '7z', input: {} },
      { id: 'call_003', name: 'in', input: {} },
      { id: 'call_004', name: 'search.v2!', input: {} },
    ]);
  });

  it('reads a string as it is, anything else as one line of JSON', async () => {
    const results: unknown[] = ['two\nlines', { a: [1] }, null, 7, '  kept  '];
    const { ended } = await fixture.run('for i in 1 2 3 4 5; do printf "<%s>" "$(look_up)"; done', {}, () =>
      results.shift(),
    );
    expect(ended.outcome.stdout).toBe('<two\nlines><{"a":[1]}><null><7><  kept  >');
  });

  it('reads what failed on standard error, with exit status 1', async () => {
    const under = await fixture.prepare('x=$(boom); echo "$? [$x]"');
    await under.start();
    const step = await under.resume([{ callId: 'call_001', error: 'kaput' }]);
    expect(step).toMatchObject({ kind: 'ended', outcome: { stdout: '1 []\n', stderr: 'kaput\n' } });
  });

  it('takes a result of any length', async () => {
    const { ended } = await fixture.run('look_up | wc -c', {}, () => 'x'.repeat(3_000_000));
    expect(ended.outcome.stdout).toBe('3000001\n');
  });

  it('works under set -euo pipefail, in POSIX mode, without clobbering and with other separators', async () => {
    const { ended } = await fixture.run(
      `set -euo pipefail; set -o posix; set -C; IFS=0123456789; umask 077
       x=$(look_up '{"a":10}'); echo "$x"; look_up '{"b":2}' | cat; set +e; boom a b; echo "$?"`,
    );
    expect(ended.outcome.stdout).toBe('{"a":10}\n{"b":2}\n1\n');
    expect(ended.outcome.stderr).toBe('boom: expected one argument, a JSON object\n');
  });

  it('tells calls that are made side by side together, and each finds its own answer', async () => {
    const under = await fixture.prepare(
      'touch begun; for i in 1 2 3 4 5; do { until [ -e go ]; do sleep 0.01; done; x=$(look_up "{\\"i\\":$i}"); echo "$i $x" >>"$LIBRECHAT_CODE_DATA_DIR/said"; } & done; wait; rm go begun; sort "$LIBRECHAT_CODE_DATA_DIR/said"',
    );
    const first = under.start();
    await expect.poll(() => existsSync(inLane('begun'))).toBe(true);
    writeFileSync(inLane('go'), '');
    // Nothing is read meanwhile: each call has been made when the first one is heard.
    under.blockUntilWaiting(5);
    const { ended, pauses } = await under.runOn(await first, ({ input }) => input);
    expect(pauses.map((calls) => calls.map(({ input }) => Number(input['i'])).sort())).toEqual([
      [1, 2, 3, 4, 5],
    ]);
    expect(ended.outcome.stdout).toBe([1, 2, 3, 4, 5].map((i) => `${i} {"i":${i}}\n`).join(''));
  });

  it('may call from subshells, pipelines and loops that read', async () => {
    const { ended } = await fixture.run(
      `(look_up '{"in":"subshell"}'); printf 'a\\nb\\n' | while read -r line; do look_up "{\\"l\\":\\"$line\\"}"; done | cat`,
    );
    expect(ended.outcome.stdout).toBe('{"in":"subshell"}\n{"l":"a"}\n{"l":"b"}\n');
  });

  it('sees no job stop while it is frozen, with job control', async () => {
    const { ended } = await fixture.run('set -m; sleep 0.2 & look_up >/dev/null; wait %1; echo "waited $?"');
    expect(ended.outcome.stdout).toBe('waited 0\n');
  });

  it.each([
    ['no JSON', `'{"a":'`],
    ['no object', `'[1]'`],
    ['half a character', `$'{"a":"\\xc3"}'`],
    ['nested without end', `"$(printf '{"a":%.0s' {1..5000})1$(printf '}%.0s' {1..5000})"`],
    ['more than fits', `"{\\"a\\":\\"$(head -c ${limits.toolInputBytes} /dev/zero | tr '\\0' x)\\"}"`],
  ])('is answered at once, without a pause, when it calls with %s', async (_what, argument) => {
    const { ended, pauses } = await fixture.run(`look_up ${argument}; echo $?`);
    expect(pauses).toEqual([]);
    expect(ended.outcome.stdout).toBe('1\n');
    expect(ended.outcome.stderr).toMatch(/^look-up: /u);
  });

  it('gives calls that do not fit into one pause the next', async () => {
    const argument = `{\\"a\\":\\"$(head -c 200000 /dev/zero | tr '\\0' x)\\"}`;
    const { ended, pauses } = await fixture.run(
      `for i in 1 2 3 4; do look_up "${argument}" >/dev/null & done; wait; echo all`,
    );
    expect(pauses.flat()).toHaveLength(4);
    expect(Math.max(...pauses.map((calls) => calls.length))).toBeLessThanOrEqual(2);
    expect(ended.outcome.stdout).toBe('all\n');
  });

  it('may make no more than a thousand calls', async () => {
    const { ended } = await fixture.run('for i in {1..1000}; do look_up "["; done 2>/dev/null; look_up');
    expect(ended.outcome).toMatchObject({
      exitCode: 1,
      stderr: 'look_up: this script has called too many tools\n',
    });
  });
});

describe('a script that is paused', () => {
  it('does nothing, whatever it traps or ignores and however it forks', async () => {
    const under = await fixture.prepare(
      `trap '' TERM INT HUP CONT TSTP; rm -f storm
       grown() { [ "$(wc -c <storm)" -gt "$1" ]; }
       for i in 1 2 3; do (trap '' TERM; while :; do (echo . >>storm; sleep 0) & wait; done) & done
       until [ -s storm ]; do sleep 0.01; done
       look_up; was=$(wc -c <storm); until grown "$was"; do sleep 0.01; done; kill %1 %2 %3; exit 0`,
    );
    expect((await under.start()).kind).toBe('paused');
    const size = readFileSync(inLane('storm')).length;
    await wait(200);
    expect(readFileSync(inLane('storm')).length).toBe(size);
    await under.resume([{ callId: 'call_001', result: '' }]);
    expect(readFileSync(inLane('storm')).length).toBeGreaterThan(size);
  });

  it('has no time pass', async () => {
    const under = await fixture.prepare('look_up; sleep 0.1; echo done', { timeoutMs: 6_000 });
    await under.start();
    await wait(6_500);
    expect(await under.resume([{ callId: 'call_001', result: 1 }])).toMatchObject({
      outcome: { timedOut: false, stdout: '1\ndone\n' },
    });
  });

  it('has what it said so far told', async () => {
    const under = await fixture.prepare('echo before; look_up');
    expect(await under.start()).toMatchObject({ kind: 'paused', stdout: 'before\n' });
    expect(await under.script.kill()).toBe(true);
  });

  it('can be killed, with all that it started, and leaves no folder', async () => {
    const under = await fixture.prepare('setsid sleep 1000 & look_up');
    await under.start();
    const [init] = under.records.map((record) => record.init);
    expect(await under.script.kill()).toBe(true);
    expect(init !== undefined && hostProcesses.isGone(init)).toBe(true);
    expect(readdirSync(fixture.scripts)).toEqual([]);
  });

  it('leaves the checkout as a command does: what Git would run is put back, and again at its end', async () => {
    const plant = 'echo ../evil > .git/commondir';
    const under = await fixture.prepare(`${plant}; look_up; ${plant}`, { atCheckout: true });
    await under.start();
    expect(existsSync(join(fixture.lanes.git, 'commondir'))).toBe(false);
    expect(await under.resume([{ callId: 'call_001', result: '' }])).toMatchObject({
      outcome: { stderr: expect.stringContaining('".git/commondir" was made') as string },
    });
    expect(existsSync(join(fixture.lanes.git, 'commondir'))).toBe(false);
    expect(under.records.map(({ stage, snapshot }) => [stage, snapshot?.root])).toEqual([
      ['command', fixture.lanes.root],
      ['resume', fixture.lanes.root],
    ]);
  });

  it('leaves others what they changed meanwhile', async () => {
    const under = await fixture.prepare('look_up; cat from-host', { atCheckout: true });
    await under.start();
    fixture.lanes.host('git config user.name Other; echo hello > from-host');
    expect(await under.resume([{ callId: 'call_001', result: '' }])).toMatchObject({
      outcome: { stdout: '\nhello\n', stderr: '' },
    });
    expect(fixture.lanes.host('git config user.name')).toBe('Other\n');
  });
});

describe('a script is not paused', () => {
  it.each([
    ['the index', '"$CODELANES_GIT_METADATA/index.lock"'],
    ['its HEAD', '"$CODELANES_GIT_METADATA/HEAD.lock"'],
    ['a ref', '"$CODELANES_GIT_COMMON_DIR/refs/heads/lane/a.lock"'],
  ])('while its Git has locked %s', async (_what, lock) => {
    const { ended, pauses } = await fixture.run(
      `touch ${lock}; look_up; echo $?; rm ${lock}; look_up; echo $?`,
    );
    expect(pauses).toHaveLength(1);
    expect(ended.outcome.stdout).toBe('1\n{}\n0\n');
    expect(ended.outcome.stderr).toContain('Git holds "');
  });

  it('for a lock that was there before it, or that a sibling gives up', async () => {
    const lock = join(fixture.lanes.git, 'refs/heads/lane/b.lock');
    writeFileSync(lock, '');
    const under = await fixture.prepare('look_up');
    expect((await under.start()).kind).toBe('paused');
    fixture.lanes.host(`rm ${lock}`);
    await under.script.kill();
  });

  it('where there is no room for it, and goes on', async () => {
    const { ended, pauses } = await fixture.run('look_up; echo $?', { reservePause: () => 'No room.' });
    expect(pauses).toEqual([]);
    expect(ended.outcome).toMatchObject({ exitCode: 0, stdout: '1\n', stderr: 'No room.\n' });
  });
});

describe('a script ends', () => {
  it('when its running time is over, with what it has said', async () => {
    const { ended } = await fixture.run('echo begun; look_up; sleep 100', { timeoutMs: 6_000 });
    expect(ended.outcome).toMatchObject({
      timedOut: true,
      exitCode: null,
      stdout: 'begun\n{}\n',
      gone: true,
    });
  });

  it('when it is cancelled, also over a call of a tool', async () => {
    const stop = new AbortController();
    const under = await fixture.prepare('look_up; sleep 100', { signal: stop.signal });
    const step = await under.start();
    expect(step.kind).toBe('paused');
    const resumed = under.resume([{ callId: 'call_001', result: '' }]);
    stop.abort();
    expect(await resumed).toMatchObject({ outcome: { ending: { kind: 'cancelled' }, gone: true } });
  });

  it('with bounded output', async () => {
    const { ended } = await fixture.run('yes | head -c 3000000; look_up >/dev/null; yes | head -c 3000000', {
      maxOutputBytes: 5_000,
    });
    expect(ended.outcome.truncated).toBe(true);
    expect(ended.outcome.stdout.length).toBeLessThanOrEqual(5_000);
  });

  it('without what it left in the background', async () => {
    const { ended } = await fixture.run('(setsid sleep 1000 &) ; look_up >/dev/null; echo over');
    expect(ended.outcome).toMatchObject({ stdout: 'over\n', gone: true });
  });
});
