import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits, type ScriptFile } from '@codelanes/protocol';
import { ScriptFixture } from './testing/script-fixture.js';

let fixture: ScriptFixture;
beforeAll(async () => {
  fixture = await ScriptFixture.make();
});
afterAll(() => {
  fixture.remove();
});

const file = (name: string, text: string): ScriptFile => ({
  name,
  content: Buffer.from(text).toString('base64'),
});
const names = (files: readonly ScriptFile[]) => files.map(({ name }) => name);

it('hands files in, and back what was made or changed, beneath the folder that both names lead to', async () => {
  const files = [file('in/a.txt', 'a'), file('kept.txt', 'k'), file('b.csv', '1')];
  const { ended } = await fixture.run(
    `cd "$LIBRECHAT_CODE_DATA_DIR"; cat in/a.txt kept.txt; look_up >/dev/null
     echo 2 >>/mnt/data/b.csv; mkdir -p out/deep; printf '\\xff\\x00' >out/deep/c.png; echo code >main.sh; echo x >notes`,
    { files },
  );
  expect(ended.outcome).toMatchObject({ stdout: 'ak', stderr: '' });
  expect(ended.files).toEqual([
    file('b.csv', '12\n'),
    { name: 'out/deep/c.png', content: Buffer.from([255, 0]).toString('base64') },
  ]);
});

it('hands back what a failing script made too', async () => {
  const { ended } = await fixture.run('echo half >/mnt/data/half.txt; exit 3');
  expect(ended.outcome.exitCode).toBe(3);
  expect(ended.files).toEqual([file('half.txt', 'half\n')]);
});

it('follows no link out of the folder, waits for no pipe, and takes no name that cannot be sent', async () => {
  const { ended } = await fixture.run(
    `cd /mnt/data; ln -s /etc/passwd stolen.txt; ln -s . again; mkfifo pipe.txt; mkdir dir.txt
     echo x >$'new\\nline.txt'; echo x >$'\\xff.txt'; echo x >'back\\slash.txt'; echo fine >fine.txt`,
  );
  expect(names(ended.files)).toEqual(['fine.txt']);
  expect(ended.outcome.stderr).toMatch(/^codelanes: Not handed back: /u);
});

it('hands back no more than fits, and says what it left', async () => {
  const { ended } = await fixture.run(
    `cd /mnt/data; head -c ${limits.programmaticFileBytes + 1} /dev/zero >big.txt; head -c ${limits.programmaticFileBytes} /dev/zero >first.txt
     head -c ${limits.programmaticFileBytes} /dev/zero >second.txt; echo small >third.txt`,
  );
  expect(names(ended.files)).toEqual(['first.txt', 'third.txt']);
  expect(ended.outcome.stderr).toContain('"big.txt", "second.txt"');
});

it('bounds the number of files, and of entries that are looked at', async () => {
  const { ended } = await fixture.run('cd /mnt/data; touch {1..99}.txt; mkdir d; cd d; touch {1..3000}.bin');
  expect(ended.files.length).toBeLessThanOrEqual(limits.programmaticFiles);
  expect(ended.outcome.stderr).toContain('Not all of the data folder');
});

it('removes even what is too deep for a path', async () => {
  const deep = 'd'.repeat(200);
  const { ended } = await fixture.run(
    `cd /mnt/data; for i in {1..40}; do mkdir ${deep} && cd ${deep}; done; echo done`,
  );
  expect(ended.outcome.stdout).toBe('done\n');
  const again = await fixture.prepare('true');
  expect(await again.start()).toMatchObject({ kind: 'ended' });
  expect(fixture.lanes.host('ls -A', fixture.scripts)).toBe('');
});
