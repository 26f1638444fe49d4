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
    const definition = load('network: public', 'repositories: [{ path: api, slots: 1, network: none }]');
    expect(notRunYet(definition)).toEqual([]);
    expect(() => {
      refuseNotRunYet(definition);
    }).not.toThrow();
  });

  it('keeps the worker from its start, in one sentence that shows the key', () => {
    const definition = load(
      'repositories:',
      '  - path: api',
      '    setup: { command: npm ci }',
      'setup: { command: x }',
    );
    expect(notRunYet(definition).map(({ key }) => key)).toEqual(['setup', 'repositories.0.setup']);
    expect(() => {
      refuseNotRunYet(definition);
    }).toThrow(`${folder}/env.yaml:6:1: setup: is not run yet by this version`);
  });

  it.each([
    'actions: [{ name: test, command: npm test }]',
    'storage: { minFreeBytes: 1 }',
    'repositories: [{ path: api, actions: [{ name: test, command: npm test }] }]',
    'repositories: [{ path: api, remote: "https://example.org/a/b", credentials: { kind: command, command: "true" } }]',
  ])('is each of the other keys: %s', (line) => {
    expect(notRunYet(load(line))).toHaveLength(1);
  });
});
