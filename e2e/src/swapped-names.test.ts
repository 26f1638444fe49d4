import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Caller, Fields } from './rig/caller.js';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';
import { Swapper } from './rig/swapper.js';
import { digestOf } from './rig/tree-digest.js';

let repository: Repository;
let deployment: Deployment;
let caller: Caller;

const at = (relative: string): string => repository.path(relative);

beforeAll(async () => {
  repository = Repository.create('a', 'b');
  deployment = await Deployment.start(repository);
  caller = deployment.caller();
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

describe('a name that is exchanged for a link between check and use', () => {
  const outside = (): string => join(repository.folder, 'outside');

  beforeEach(() => {
    mkdirSync(outside());
    for (const name of ['file.txt', 'secret']) writeFileSync(join(outside(), name), 'one outside\n');
    mkdirSync(at('.worktrees/a/dir'));
    writeFileSync(at('.worktrees/a/dir/file.txt'), 'one inside\n');
    symlinkSync(outside(), at('.worktrees/a/link'));
    writeFileSync(at('.worktrees/b/secret'), 'one outside\n');
    writeFileSync(at('.worktrees/b/file.txt'), 'one outside\n');
  });
  afterEach(() => {
    for (const place of [outside(), at('.worktrees/a/dir'), at('.worktrees/a/link')]) {
      rmSync(place, { recursive: true, force: true });
    }
  });

  /** Sends the calls again and again, until each of these words was among the answers: else nothing was attacked. */
  async function attack(calls: readonly Fields[], words: readonly string[]): Promise<string[]> {
    const answers: string[] = [];
    const unsaid = new Set(words);
    for (let round = 0; round < 15 || unsaid.size > 0; round += 1) {
      const replies = await Promise.all(calls.map((fields) => caller.call({ worktree: 'a', ...fields })));
      for (const { status, text } of replies) {
        expect([200, 409, 422, 503]).toContain(status);
        answers.push(text);
        for (const word of unsaid) if (text.includes(word)) unsaid.delete(word);
      }
    }
    return answers;
  }

  const calls = (folder: string): Fields[] => [
    { operation: 'read_file', path: `${folder}file.txt` },
    { operation: 'write_file', path: `${folder}written`, content: 'one inside' },
    { operation: 'write_file', path: `${folder}new/deep`, content: 'one inside' },
    { operation: 'edit_file', path: `${folder}file.txt`, oldText: 'one', newText: 'one' },
    { operation: 'preview_edit', path: `${folder}file.txt`, oldText: 'one', newText: 'two' },
    { operation: 'list_files', ...(folder === '' ? {} : { path: 'dir' }) },
    { operation: 'search_text', query: 'one', ...(folder === '' ? {} : { path: 'dir' }) },
    {
      operation: 'execute_command',
      command: 'cat file.txt; echo inside > touched; ls',
      ...(folder === '' ? {} : { cwd: 'dir' }),
    },
  ];

  it('[T31] [S4: TOCTOU] a folder in the lane leads no tool and no cwd out of it', async () => {
    const before = digestOf(outside());
    const swapper = await Swapper.start([at('.worktrees/a/dir'), at('.worktrees/a/link')]);
    let answers: string[];
    try {
      answers = await attack(calls('dir/'), ['inside', 'INVALID_PATH']);
    } finally {
      await swapper.stop();
    }
    expect(answers.filter((answer) => /secret|one outside/u.test(answer))).toEqual([]);
    expect(digestOf(outside())).toEqual(before);
  }, 240_000);

  it('[L13] [T31] [S5: TOCTOU] the lane itself for a link to its sibling never lets a call into that', async () => {
    // What is left of calls before must not count as a sign of an escape.
    const before = digestOf(at('.worktrees/b'));
    symlinkSync('b', at('.worktrees/to-b'));
    const swapper = await Swapper.start([at('.worktrees/a'), at('.worktrees/to-b')]);
    let answers: string[];
    try {
      answers = await attack(calls(''), ['is a symbolic link', 'bytesWritten']);
    } finally {
      await swapper.stop();
    }
    expect(answers.filter((answer) => /secret|one outside/u.test(answer))).toEqual([]);
    expect(digestOf(at('.worktrees/b'))).toEqual(before);
    expect(existsSync(at('.worktrees/b/touched'))).toBe(false);
  }, 240_000);
});
