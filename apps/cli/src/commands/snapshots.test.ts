import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CliError } from '../errors/cli-error.js';
import { createProgram } from '../program.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-snapshots-')));
  for (const name of ['src', 'store', 'store/snapshots', 'store/staging', 'store/locks']) {
    mkdirSync(join(folder, name), { mode: 0o700 });
  }
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000);
const [fresh, expired] = ['1'.repeat(64), '2'.repeat(64)];
const kept = () => readdirSync(join(folder, 'store/snapshots'));

/** A snapshot as a worker leaves it. */
function make(key: string, usedAt: Date) {
  const place = join(folder, 'store/snapshots', key);
  mkdirSync(join(place, '0'), { recursive: true, mode: 0o700 });
  const manifest = join(place, 'manifest.json');
  const complete = { paths: ['node_modules'], entries: 0, bytes: 7, digest: '0'.repeat(64) };
  writeFileSync(manifest, JSON.stringify({ version: 1, state: 'complete', key, ...complete }), {
    mode: 0o600,
  });
  utimesSync(manifest, usedAt, usedAt);
}

const define = (snapshot: string) => {
  const file = join(folder, 'env.yaml');
  const lines = [
    ...[
      'name: primary',
      'root: src',
      'setup:',
      '  command: npm ci',
      '  reuse:',
      '    inputs: [package-lock.json]',
    ],
    ...['    checkCommand: "true"', `    snapshot: ${snapshot}`],
  ];
  writeFileSync(file, lines.join('\n'), { mode: 0o600 });
  return file;
};

async function prune(file: string, ...flags: readonly string[]): Promise<string> {
  const said = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const state = ['--state', join(folder, 'state')];
  await createProgram().parseAsync(['snapshots', 'prune', file, ...state, ...flags], { from: 'user' });
  return String(said.mock.lastCall);
}

describe('codelanes snapshots prune', () => {
  it('[D11] shows what it would remove, and removes it only with --apply', async () => {
    make(fresh, daysAgo(1));
    make(expired, daysAgo(6));
    const file = define(`{ store: ${join(folder, 'store')}, paths: [node_modules] }`);
    const preview = await prune(file);
    expect(preview).toMatch(/^1{12} .* kept$/mu);
    expect(preview).toMatch(/^2{12} .* would be removed: unused for longer than retentionMs$/mu);
    expect(preview).toMatch(/Nothing was removed yet: add --apply\.$/u);
    expect(kept()).toEqual([fresh, expired]);
    expect(await prune(file, '--apply')).toMatch(/^2{12} .* removed: unused/mu);
    expect(kept()).toEqual([fresh]);
    expect(JSON.parse(await prune(file, '--json'))).toMatchObject([{ kept: [{ key: fresh }], removed: [] }]);
  });

  it('keeps to the lifecycle of the definition', async () => {
    make(fresh, daysAgo(1));
    make(expired, daysAgo(2));
    const store = join(folder, 'store');
    const file = define(`{ store: ${store}, paths: [node_modules], lifecycle: { maxEntries: 1 } }`);
    expect(await prune(file, '--apply')).toContain('removed: over maxEntries');
    expect(kept()).toEqual([fresh]);
  });

  it('says what is wrong with a definition', async () => {
    await expect(prune(define('{ store: here, paths: [node_modules] }'))).rejects.toThrow(CliError);
  });
});
