import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadDefinition, rootOfDefinition } from '@codelanes/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from './rig/deployment.js';
import { PackageRegistry } from './rig/package-registry.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let outside: string;
let registry: PackageRegistry;
let deployment: Deployment;

beforeAll(async () => {
  registry = await PackageRegistry.start('leftpad', "module.exports = 'of the registry';\n");
  repository = Repository.create();
  const manifest = { name: 'app', private: true, dependencies: { leftpad: '^1.0.0' } };
  writeFileSync(repository.path('package.json'), JSON.stringify(manifest));
  repository.git('add', '.');
  repository.git('commit', '--quiet', '--message=Depend');
  repository.addWorktree('a');
  repository.addWorktree('denied');
  // Neither a definition nor the state of a worker may lie in a root.
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-e2e-')));
  mkdirSync(join(outside, 'home'));
  const file = join(outside, 'environment.yaml');
  // The proxy of a worker under test takes every name for this machine.
  const install = 'npm install --no-audit --no-fund --no-update-notifier --fetch-retries=0 --registry';
  const lines = [
    'name: primary',
    `root: ${repository.folder}`,
    'linkedWorktreeLanes: true',
    'repositories:',
    '  - path: repo',
    `    network: { allow: ["registry.example:${registry.port}"] }`,
    '    setup:',
    '      command: |',
    '        host=registry.example; [ "$CODELANES_WORKTREE" = a ] || host=elsewhere.example',
    `        ${install} "http://$host:${registry.port}"`,
  ];
  writeFileSync(file, lines.join('\n'), { mode: 0o600 });
  const roots = [rootOfDefinition(loadDefinition(file), true)];
  const worker = { roots, stateDir: join(outside, 'state'), home: join(outside, 'home') };
  deployment = await Deployment.start(repository, { slots: 2, worker });
});
afterAll(async () => {
  await deployment.stop();
  registry.stop();
  repository.remove();
  rmSync(outside, { recursive: true, force: true });
});

const more = { repository: 'repo' };

describe('a setup that installs packages', () => {
  it('has them from a registry that the repository may reach, through the proxy', async () => {
    const result = await deployment
      .caller()
      .run(`node -p 'require("leftpad")'`, 'a', { more, queueWaitMs: 120_000 });
    expect(result.stdout).toBe('of the registry\n');
    const host = `registry.example:${registry.port}`;
    expect(registry.asked).toEqual([`${host} /leftpad`, `${host} /leftpad/-/leftpad-1.0.0.tgz`]);
    expect(existsSync(repository.path('node_modules'))).toBe(false);
  }, 150_000);

  it('fails where it asks another host, which the refusal names with what would allow it', async () => {
    const refused = await deployment
      .caller()
      .refused(
        { operation: 'execute_command', command: 'true', worktree: 'denied', ...more },
        { queueWaitMs: 120_000 },
      );
    expect(refused.code).toBe('WORKSPACE_SETUP_FAILED');
    const host = `elsewhere.example:${registry.port}`;
    expect(refused.error).toContain(`${host} is not on the list of allowed domains`);
    expect(refused.error).toContain(
      `The operator can allow it: add "${host}" to \`network: allow:\` of the repository "repo" in the environment's definition and restart the worker.`,
    );
  }, 150_000);
});
