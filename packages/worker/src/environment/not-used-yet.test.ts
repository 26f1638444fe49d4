import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadDefinition } from './load-definition.js';
import { notUsedYet } from './not-used-yet.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-not-used-test-')));
  mkdirSync(join(folder, 'src/api/.git'), { recursive: true });
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const load = (...lines: readonly string[]) => {
  const file = join(folder, 'env.yaml');
  writeFileSync(file, ['name: primary', 'root: src', ...lines].join('\n'), { mode: 0o600 });
  return loadDefinition(file);
};

describe('what a definition says and the worker does not do yet', () => {
  it('is nothing where only what is served is declared', () => {
    const definition = load(
      'network: public',
      'setup: { command: npm ci }',
      'storage: { minFreeBytes: 1 }',
      'actions: [{ name: test, command: npm test }]',
      'repositories:',
      '  - path: api',
      '    slots: 1',
      '    network: none',
      '    remote: https://example.org/a/b',
      '    setup: { command: npm ci, copy: [.env] }',
      '    actions: [{ name: test, command: npm test }]',
    );
    expect(notUsedYet(definition)).toEqual([]);
  });

  it('is a secret for a repository, in one sentence that shows where it stands and says what is missing', () => {
    const definition = load(
      'repositories:',
      '  - path: api',
      '    remote: https://example.org/a/b',
      '    credentials: { kind: command, command: "true" }',
    );
    expect(notUsedYet(definition)).toEqual([
      `${folder}/env.yaml:6:5: repositories.0.credentials: checked, but not used yet by this version: setup and commands of this repository get no secret for its remote.`,
    ]);
  });
});
