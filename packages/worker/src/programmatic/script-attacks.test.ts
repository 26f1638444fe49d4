import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('a script that is held still', () => {
  it.each([
    [
      'a clock',
      // timer_create, timer_settime: SIGCONT every 20 ms.
      `my %n = (x86_64 => [222, 223], aarch64 => [107, 110]); my ($make, $set) = @{$n{(POSIX::uname())[4]}};
       my ($id, $says) = (pack("l", 0), pack("Q l l x48", 0, 18, 0)); syscall($make, 1, $says, $id) == 0 or exit 9;
       my $each = pack("q4", 0, 20_000_000, 0, 20_000_000); syscall($set, unpack("l", $id), 0, $each, 0) == 0 or exit 8;`,
    ],
    [
      'a file that others write to',
      // F_SETOWN, F_SETSIG, F_SETFL with O_ASYNC: SIGCONT for every word on the pipe.
      `open(my $f, "+<", "pipe") or exit 8; fcntl($f, 8, $$ + 0) or exit 8;
       fcntl($f, 10, 18) or exit 9; fcntl($f, 4, 020000 | 2) or exit 8;`,
    ],
  ])('is not woken by %s', async (_what, arrangement) => {
    const under = await fixture.prepare(
      `rm -f woken pipe; mkfifo pipe
       perl -MPOSIX -e '$SIG{CONT} = sub {}; ${arrangement}
         while (1) { open(my $w, ">>", "woken"); syswrite $w, "."; close $w; select(undef, undef, undef, 0.01) }' &
       until [ -e woken ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done; kill -0 $! 2>/dev/null && arranged=yes; look_up >/dev/null; kill $! 2>/dev/null; wait $!; echo "$arranged $?"`,
    );
    expect((await under.start()).kind).toBe('paused');
    const size = (): number => (existsSync(inLane('woken')) ? readFileSync(inLane('woken')).length : 0);
    const before = size();
    for (let i = 0; i < 10; i += 1) {
      fixture.lanes.host('timeout 40 sh -c "echo x 1<>pipe"', fixture.lanes.path('a'));
      await wait(30);
    }
    expect(size()).toBe(before);
    // It is refused by the kernel, not done and without effect.
    expect(await under.resume([{ callId: 'call_001', result: '' }])).toMatchObject({
      outcome: { stdout: ' 9\n' },
    });
  });
});

describe('a script’s own processes', () => {
  it('cannot keep the worker busy with what are no requests', async () => {
    const { ended, pauses } = await fixture.run(
      `timeout 2 yes >>/run/codelanes/script/requests; echo $?; look_up; echo $?`,
    );
    expect(pauses).toEqual([]);
    expect(ended.outcome).toMatchObject({
      stdout: '124\n1\n',
      stderr: 'look_up: this script has called too many tools\n',
    });
  });

  it('may call its tools and forge what belongs to it, and reach nothing of another call', async () => {
    const other = await fixture.prepare('look_up; echo other');
    await other.start();
    const { ended, pauses } = await fixture.run(
      `printf '1-1 0\\n' >>/run/codelanes/script/requests
       printf 'garbage %s\\n' {1..100} >>/run/codelanes/script/requests
       head -c 100000 /dev/zero >>/run/codelanes/script/requests; echo >>/run/codelanes/script/requests
       printf '1-2 99\\n../x 0\\n1-3 0\\n' >>/run/codelanes/script/requests
       ln -s /etc/passwd /run/codelanes/calls/1-3.json
       yes | head -c 1000000 2>/dev/null | timeout 1 tee /run/codelanes/script/news >/dev/null
       for f in main.sh functions.sh results/1-1.result results/x; do echo x >/run/codelanes/script/$f; done 2>/dev/null
       rm -rf /run/codelanes/script/* 2>/dev/null
       look_up '{"real":1}'; ls /run/codelanes; find /run /tmp -name '*${'0'.repeat(31)}1*' 2>/dev/null | head -1`,
    );
    expect(pauses.flat().filter(({ input }) => 'real' in input)).toHaveLength(1);
    expect(ended.outcome.stdout).toMatch(/\{"real":1\}\nbin\ncalls\ndata\ngitconfig\nhome\nscript\n$/u);
    expect(JSON.stringify(pauses)).not.toContain('root:');
    expect(await other.resume([{ callId: 'call_001', result: 'mine' }])).toMatchObject({
      outcome: { stdout: 'mine\nother\n' },
    });
  });

  it('end with their script, and not with the worker, where an answer cannot be written', async () => {
    const under = await fixture.prepare('touch begun; until [ -e go ]; do sleep 0.01; done; look_up "[" ');
    const step = under.start();
    await expect.poll(() => existsSync(inLane('begun'))).toBe(true);
    // As on a disk that the script has filled.
    fixture.lanes.host('rm -rf */own/results', fixture.scripts);
    fixture.lanes.host('touch go', fixture.lanes.path('a'));
    await expect(step).rejects.toMatchObject({ code: 'ENOENT' });
    const left = under.records.filter(({ init }) => !hostProcesses.isGone(init));
    expect([under.records.length, left]).toEqual([1, []]);
  });
});
