import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replayFile } from './replay-file.js';
import { storeMaker, storeNames } from './store-by-name.js';

const fixtures = fileURLToPath(new URL('../../fixtures/vectors/', import.meta.url));
const shared = fileURLToPath(new URL('../../../../shared/vectors/', import.meta.url));
const names = ['scheduling.jsonl', 'lane-routing.jsonl'];

describe('the vectors', () => {
  it.each(storeNames)('are exactly what the %s store decides', async (store) => {
    const { scheduling } = await replayFile(join(fixtures, 'scheduling.jsonl'), store);
    expect(scheduling).toBe(200);
  });

  it('[L20] [L21] are exactly how requests are routed', async () => {
    const { routing } = await replayFile(join(fixtures, 'lane-routing.jsonl'), 'memory');
    expect(routing).toBe(44);
  });

  // The originals stand beside the repository only where the project is developed.
  for (const name of existsSync(shared) ? names : []) {
    it(`${name} is a true copy of the shared file`, async () => {
      const [copy, original] = await Promise.all([
        readFile(join(fixtures, name)),
        readFile(join(shared, name)),
      ]);
      expect(copy.equals(original)).toBe(true);
    });
  }
});

describe('a replay', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'codelanes-vectors-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  async function fileOf(...lines: readonly unknown[]): Promise<string> {
    const path = join(folder, 'given.jsonl');
    await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return path;
  }

  const submit = { do: 'submit', lane: ['primary'], mode: 'exclusive', pool: 'command', caller: 'ann' };
  const trace = { name: 'two at once', slots: 2, files: 1, capacities: [] };

  it('names file, line, trace, step and both answers at the first difference', async () => {
    const good = { ...trace, name: 'one', steps: [{ ...submit, id: 'a', starts: ['a'] }] };
    const wrong = {
      ...trace,
      steps: [
        { ...submit, id: 'a', starts: ['a'] },
        { ...submit, id: 'b', starts: ['b'] },
      ],
    };
    const path = await fileOf(good, wrong);
    await expect(replayFile(path, 'memory')).rejects.toThrow(
      `${path}:2: two at once, step 2 (submit b): expected ["b"], got []`,
    );
  });

  it('fails where a request is routed elsewhere', async () => {
    const given = { workspaceId: 'primary', operation: 'read_file', path: '.worktrees/a/x' };
    const path = await fileOf({
      repositories: [],
      worktrees: [''],
      given,
      expect: { request: given, reason: 'no_path' },
    });
    await expect(replayFile(path, 'memory')).rejects.toThrow(
      /:1: .*expected .*"no_path".*, got .*"worktree":"a"/,
    );
  });

  it('takes no line of an unknown format, and no empty file', async () => {
    await expect(replayFile(await fileOf({ neither: true }), 'memory')).rejects.toThrow(/:1: not a vector/);
    await expect(replayFile(await fileOf(), 'memory')).rejects.toThrow(/empty/);
  });

  it('knows its stores by name', async () => {
    await expect(storeMaker('paper')).rejects.toThrow('no store "paper"');
  });
});
