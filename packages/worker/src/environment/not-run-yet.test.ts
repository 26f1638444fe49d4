import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadDefinition } from './load-definition.js';
import { notRunYet, refuseNotRunYet } from './not-run-yet.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-not-run-test-')));
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
      '    setup: { command: npm ci, copy: [.env] }',
      '    actions: [{ name: test, command: npm test }]',
    );
    expect(notRunYet(definition)).toEqual([]);
    expect(() => {
      refuseNotRunYet(definition);
    }).not.toThrow();
  });

  it('is a secret for a repository: it keeps the worker from its start, in one sentence that shows the key', () => {
    const definition = load(
      'repositories:',
      '  - path: api',
      '    remote: https://example.org/a/b',
      '    credentials: { kind: command, command: "true" }',
    );
    expect(notRunYet(definition).map(({ key }) => key)).toEqual(['repositories.0.credentials']);
    expect(() => {
      refuseNotRunYet(definition);
    }).toThrow(`${folder}/env.yaml:6:5: repositories.0.credentials: is not run yet by this version`);
  });
});
