import { createHash } from 'node:crypto';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Edit } from '@codelanes/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TemporaryLane } from './testing/temporary-lane.js';

let lane: TemporaryLane;
beforeEach(() => {
  lane = new TemporaryLane();
});
afterEach(() => {
  lane.remove();
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const edit = (edits: Edit[], fields: { matching?: 'exact' | 'tolerant'; expectedBaseSha256?: string } = {}) =>
  lane.run({ operation: 'edit_file', path: 'f', edits, ...fields });
const refusalOf = (edits: Edit[], fields: { expectedBaseSha256?: string } = {}) =>
  lane.refusal({ operation: 'edit_file', path: 'f', edits, ...fields });

describe('edit_file', () => {
  it('applies edits in order, each to what the ones before it left', async () => {
    lane.put('f', 'one');
    const edits = [
      { oldText: 'one', newText: 'two' },
      { oldText: 'two', newText: 'three' },
    ];
    expect(await edit(edits)).toEqual({
      protocolVersion: 1,
      operation: 'edit_file',
      workspaceId: 'primary',
      path: 'f',
      replacements: 2,
      bytesWritten: 5,
    });
    expect(lane.get('f')).toBe('three');
  });

  it('takes the short form with one edit', async () => {
    lane.put('f', 'a b');
    await lane.run({ operation: 'edit_file', path: 'f', oldText: 'a', newText: 'c' });
    expect(lane.get('f')).toBe('c b');
  });

  it('applies all edits or none', async () => {
    lane.put('f', 'one');
    const refusal = await refusalOf([
      { oldText: 'one', newText: 'two' },
      { oldText: 'missing', newText: '' },
    ]);
    expect(refusal.code).toBe('EDIT_CONFLICT');
    expect(refusal.message).toContain('Edit 2 of 2');
    expect(lane.get('f')).toBe('one');
    expect(lane.planned).toEqual([]);
  });

  it('tells its matches where matching or replaceAll was named, and only there', async () => {
    lane.put('f', 'a a b  c');
    expect(await edit([{ oldText: 'a', newText: 'x', replaceAll: true }])).toMatchObject({
      matches: [{ strategy: 'exact', occurrences: 2 }],
    });
    expect(await edit([{ oldText: 'b c', newText: 'y z' }], { matching: 'tolerant' })).toMatchObject({
      matches: [{ strategy: 'whitespace-normalized', occurrences: 1 }],
    });
    expect(await edit([{ oldText: 'y', newText: 'w', replaceAll: false }])).toHaveProperty('matches');
    expect(await edit([{ oldText: 'w', newText: 'v' }])).not.toHaveProperty('matches');
    expect(lane.get('f')).toBe('x x v z');
  });

  it('keeps a byte order mark and CRLF', async () => {
    lane.put('f', '\ufeffone\r\ntwo\r\n');
    expect(await edit([{ oldText: 'one\r\n', newText: 'three\r\n' }])).toMatchObject({ bytesWritten: 15 });
    await edit([{ oldText: '\ufeffthree', newText: '\ufeffone' }]);
    expect(lane.get('f')).toBe('\ufeffone\r\ntwo\r\n');
  });

  it('refuses when the file is not the one that was previewed', async () => {
    lane.put('f', 'one');
    const preview = await lane.run({
      operation: 'preview_edit',
      path: 'f',
      edits: [{ oldText: 'one', newText: 'two' }],
    });
    expect(preview).toMatchObject({ content: 'two', hasUtf8Bom: false, baseSha256: sha256('one') });
    expect(lane.get('f')).toBe('one');
    lane.put('f', 'one!');
    const fence = { expectedBaseSha256: preview.baseSha256 };
    const refusal = await refusalOf([{ oldText: 'one', newText: 'two' }], fence);
    expect(refusal.code).toBe('EDIT_CONFLICT');
    lane.put('f', 'one');
    await edit([{ oldText: 'one', newText: 'two' }], fence);
    expect(lane.get('f')).toBe('two');
  });

  it('does not lose what another wrote while the edit was made', async () => {
    lane.put('f', 'one');
    const refusal = await lane.refusal(
      { operation: 'edit_file', path: 'f', edits: [{ oldText: 'one', newText: 'two' }] },
      {
        beforeWrite: () => {
          lane.put('f', 'one, and more');
          return Promise.resolve();
        },
      },
    );
    expect(refusal.code).toBe('EDIT_CONFLICT');
    expect(lane.get('f')).toBe('one, and more');
  });

  it('previews a file with a byte order mark without it', async () => {
    lane.put('f', '\ufeffone');
    expect(
      await lane.run({ operation: 'preview_edit', path: 'f', edits: [{ oldText: 'one', newText: 'two' }] }),
    ).toMatchObject({ content: 'two', hasUtf8Bom: true, bytesWritten: 6, baseSha256: sha256('\ufeffone') });
  });

  it('refuses files that are not text, too large or would become so', async () => {
    lane.put('f', Buffer.from([0xff, 0x61]));
    expect((await refusalOf([{ oldText: 'a', newText: 'b' }])).code).toBe('INVALID_REQUEST');
    lane.put('f', 'x'.repeat(1024 * 1024 + 1));
    expect((await refusalOf([{ oldText: 'a', newText: 'b' }])).code).toBe('WRITE_LIMIT_EXCEEDED');
    lane.put('f', 'a'.repeat(1024));
    const growing = [{ oldText: 'a', newText: 'b'.repeat(1025), replaceAll: true }];
    expect((await refusalOf(growing)).code).toBe('WRITE_LIMIT_EXCEEDED');
    lane.put('f', `a${'x'.repeat(1024 * 1024 - 1)}`);
    expect((await refusalOf([{ oldText: 'a', newText: 'ä' }])).code).toBe('WRITE_LIMIT_EXCEEDED');
    await edit([{ oldText: 'a', newText: 'b' }]);
    expect(lane.get('f').startsWith('bx')).toBe(true);
  });

  it('[T31] edits and previews nothing outside the lane or in Git storage', async () => {
    writeFileSync(join(lane.folder, 'theirs'), 'one');
    lane.put('.git/config', 'one');
    symlinkSync('../theirs', join(lane.path, 'out'));
    symlinkSync('.git/config', join(lane.path, 'git'));
    const edits = [{ oldText: 'one', newText: 'two' }];
    for (const operation of ['edit_file', 'preview_edit'] as const) {
      for (const path of ['out', 'git', '.git/config', '.GIT/config']) {
        expect((await lane.refusal({ operation, path, edits })).code).toBe('INVALID_PATH');
      }
      expect((await lane.refusal({ operation, path: 'missing', edits })).code).toBe('NOT_FOUND');
    }
    expect(lane.get('.git/config')).toBe('one');
  });
});
