import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { limits } from '@codelanes/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fields } from './rig/caller.js';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a');
  deployment = await Deployment.start(repository, { slots: 1 });
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

const mib = 1024 * 1024;
const inA = (fields: Fields): Fields => ({ worktree: 'a', ...fields });
const put = (name: string, content: string | Buffer) => {
  writeFileSync(repository.path(name, 'a'), content);
};
describe('a limit of what is given back', () => {
  it('1 MiB of a file is read whole, of more the lines that fit', async () => {
    const line = `${'x'.repeat(8191)}\n`;
    put('mib', line.repeat(128));
    put('mib-and-more', `${line.repeat(128)}y`);
    const read = (name: string) =>
      deployment.caller().succeed(inA({ operation: 'read_file', path: name, maxLines: 500 }));
    expect(await read('mib')).toMatchObject({ endLine: 128, truncated: false });
    expect(await read('mib-and-more')).toMatchObject({ endLine: 128, truncated: true, nextStartLine: 129 });
  });

  it('a line of 1 MiB is read, one of a byte more is refused', async () => {
    put('one-line', 'x'.repeat(mib));
    put('long-line', 'x'.repeat(mib + 1));
    const read = (name: string) => inA({ operation: 'read_file', path: name });
    expect(await deployment.caller().succeed(read('one-line'))).toMatchObject({ truncated: false });
    expect(await deployment.caller().refused(read('long-line'))).toMatchObject({
      status: 422,
      code: 'READ_LIMIT_EXCEEDED',
    });
  });

  it('an edited file may have 1 MiB, and not a byte more', async () => {
    put('grows', `a${'x'.repeat(mib - 2)}`);
    const edit = (newText: string) => inA({ operation: 'edit_file', path: 'grows', oldText: 'a', newText });
    expect(await deployment.caller().succeed(edit('aa'))).toMatchObject({ bytesWritten: mib });
    put('grows', `a${'x'.repeat(mib - 1)}`);
    const refusal = await deployment.caller().refused(edit('aa'));
    expect(refusal).toMatchObject({ status: 413, code: 'WRITE_LIMIT_EXCEEDED' });
  });

  it('a search shows at most as many matches as asked, and 2,000 characters of a line', async () => {
    put('many', 'needle\n'.repeat(250));
    put('wide', `${'x'.repeat(1000)}haystack${'x'.repeat(3000)}`);
    const many = await deployment
      .caller()
      .succeed(inA({ operation: 'search_text', query: 'needle', maxResults: 200 }));
    expect(many).toMatchObject({ truncated: true });
    expect(many.operation === 'search_text' && many.matches.length).toBe(200);
    const wide = await deployment.caller().succeed(inA({ operation: 'search_text', query: 'haystack' }));
    const [match] = wide.operation === 'search_text' ? wide.matches : [];
    expect(match?.text).toContain('haystack');
    expect(match?.text.length).toBeLessThanOrEqual(limits.searchTextLength);
  });

  it('a list shows at most 500 paths, and goes on after the last of them', async () => {
    await deployment.caller().run('mkdir many-files; cd many-files; touch $(seq 1000 1500)', 'a');
    const list = { operation: 'list_files', path: 'many-files', maxResults: 500 };
    const first = await deployment.caller().succeed(inA(list));
    expect(first).toMatchObject({ truncated: true, nextAfterPath: 'many-files/1499' });
    const second = await deployment.caller().succeed(inA({ ...list, afterPath: 'many-files/1499' }));
    expect(second).toMatchObject({ truncated: false, paths: ['many-files/1500'] });
  });

  it('a command gives 256 KiB unless told otherwise, and at most 1 MiB, of both streams together', async () => {
    const output = (bytes: number) =>
      `head -c ${bytes - 100} /dev/zero | tr '\\0' x; head -c 100 /dev/zero | tr '\\0' y >&2`;
    for (const [bound, more] of [
      [256 * 1024, {}],
      [mib, { maxOutputBytes: mib }],
    ] as const) {
      const fits = await deployment.caller().run(output(bound), 'a', { more });
      expect([fits.truncated, fits.stdout.length + fits.stderr.length]).toEqual([false, bound]);
      const exceeds = await deployment.caller().run(output(bound + 1), 'a', { more });
      expect(exceeds.truncated).toBe(true);
      expect(exceeds.stdout.length + exceeds.stderr.length).toBeLessThanOrEqual(bound);
    }
  });

  it('instructions are read whole up to 32 KiB, and cut there', async () => {
    const read = (bytes: number) => {
      const text = 'x'.repeat(bytes);
      put('AGENTS.md', text);
      const shown = text.slice(0, limits.instructionBytes);
      const instructionSha256 = createHash('sha256').update(shown).digest('hex');
      return deployment
        .caller()
        .succeed(inA({ operation: 'read_file', path: 'AGENTS.md', instructionSha256 }));
    };
    expect(await read(limits.instructionBytes)).toMatchObject({ truncated: false });
    expect(await read(limits.instructionBytes + 1)).toMatchObject({
      truncated: true,
      content: 'x'.repeat(limits.instructionBytes),
    });
  });

  it('an error has a short message, however long what it is about', async () => {
    const refusal = await deployment
      .caller()
      .refused(inA({ operation: 'read_file', path: 'p/'.repeat(2047) + 'pp' }));
    expect(refusal.error.length).toBeLessThanOrEqual(limits.errorMessageLength);
  });
});
