import { describe, expect, it } from 'vitest';
import {
  callIdSchema,
  leaseTokenSchema,
  pathFault,
  relativePathSchema,
  sha256Schema,
  workerIdSchema,
  workspaceIdSchema,
  workspaceInstanceIdSchema,
  worktreeNameSchema,
} from './identifiers.js';

describe('workspace and worker ids', () => {
  it.each(['a', 'A0._:-', '0', 'a'.repeat(128)])('take "%s"', (id) => {
    expect(workspaceIdSchema.safeParse(id).success).toBe(true);
    expect(workerIdSchema.safeParse(id).success).toBe(true);
  });

  it.each(['', 'a'.repeat(129), '.a', ':a', '-a', 'a/b', 'a@b', 'a b', 'ä', 'a\n'])('refuse %j', (id) => {
    expect(workspaceIdSchema.safeParse(id).success).toBe(false);
    expect(workerIdSchema.safeParse(id).success).toBe(false);
  });
});

describe('worktree names', () => {
  it.each(['a', 'fix-1', 'a.b_c', 'x.locks', 'a'.repeat(128)])('[L1] may be "%s"', (name) => {
    expect(worktreeNameSchema.safeParse(name).success).toBe(true);
  });

  it.each(['', 'a'.repeat(129), '..', '.git', '.hidden', '-bad', 'a/b', 'x.lock', 'ä', 'a\n', 'a:b'])(
    '[L1] may not be %j',
    (name) => {
      expect(worktreeNameSchema.safeParse(name).success).toBe(false);
    },
  );
});

describe('paths', () => {
  it.each(['a', 'a/b.c', '.hidden', '..a/b..', 'a b/ä😀', '.git/config', 'ab:c', 'x'.repeat(4096)])(
    'may be "%s"',
    (path) => {
      expect(pathFault(path)).toBeUndefined();
      expect(relativePathSchema.safeParse(path).success).toBe(true);
    },
  );

  it.each([
    ['', 'empty'],
    ['x'.repeat(4097), '4096'],
    ['/a', 'relative'],
    ['a/../b', '".."'],
    ['..', '".."'],
    ['./a', '"."'],
    ['a//b', '""'],
    ['a/', '""'],
    ['a\\b', 'backslash'],
    ['C:/a', 'drive'],
    ['c:', 'drive'],
    ['a\0b', 'NUL'],
    ['a\nb', 'LF'],
    ['a\rb', 'CR'],
    ['a\ud800', 'well-formed'],
  ])('[T31] may not be %j', (path, why) => {
    expect(pathFault(path)).toContain(why);
    expect(relativePathSchema.safeParse(path).success).toBe(false);
  });
});

describe('random ids', () => {
  it.each([
    ['call id', callIdSchema, 32],
    ['lease token', leaseTokenSchema, 64],
    ['SHA-256', sha256Schema, 64],
    ['instance id', workspaceInstanceIdSchema, 64],
  ])('%s has its own length of lower-case hex', (_, schema, length) => {
    expect(schema.safeParse('a'.repeat(length)).success).toBe(true);
    for (const wrong of [
      'a'.repeat(length - 1),
      'a'.repeat(length + 1),
      'A'.repeat(length),
      'g'.repeat(length),
    ]) {
      expect(schema.safeParse(wrong).success).toBe(false);
    }
  });
});
