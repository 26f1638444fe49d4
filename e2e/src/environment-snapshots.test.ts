import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloningFolder } from '@codelanes/worker/cloning-folder';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Cli } from './rig/cli.js';
import { EnvironmentDeployment, EnvironmentFolder } from './rig/environment.js';

const disk = CloningFolder.forTests();
let environment: EnvironmentFolder;
let deployment: EnvironmentDeployment;
/** Opened to commands for reading; the store lies in it. */
let opened: string;
let store: string;

beforeEach(async () => {
  environment = new EnvironmentFolder(disk().path);
  environment.addRepository('.', 'a');
  opened = join(environment.folder, 'opened');
  store = join(opened, 'store');
  mkdirSync(opened, { mode: 0o755 });
  for (const name of ['', 'snapshots', 'staging', 'locks']) mkdirSync(join(store, name), { mode: 0o700 });
  deployment = await EnvironmentDeployment.start(environment, { slots: 0 });
});
afterEach(async () => {
  await deployment.stop();
  environment.remove();
});

/** Setup installs a package anew, whose text is that of the input. */
const setup = (lifecycle = '{}') => [
  `sandbox: { read: [${opened}] }`,
  'setup:',
  '  command: |',
  '    printf . >> runs',
  '    rm -rf node_modules; mkdir -p node_modules/pkg; cp name.txt node_modules/pkg/index.js',
  '  reuse:',
  '    inputs: [name.txt]',
  '    checkCommand: cmp name.txt node_modules/pkg/index.js',
  `    snapshot: { store: ${store}, paths: [node_modules], lifecycle: ${lifecycle} }`,
];
const define = (lifecycle?: string) => {
  environment.define('name: primary', 'root: src', 'linkedWorktreeLanes: true', ...setup(lifecycle));
};
const runs = (root = environment.root) => {
  const file = join(root, 'runs');
  return existsSync(file) ? readFileSync(file, 'utf8').length : 0;
};
const uninstall = () => {
  rmSync(environment.path('node_modules'), { recursive: true });
};
const kept = () => readdirSync(join(store, 'snapshots'));
const staged = () => readdirSync(join(store, 'staging'));

describe('the snapshot of an environment’s setup', () => {
  it('[D6] is restored in place of a setup, in another root too, and is another one where an input has changed', async () => {
    define();
    const other = join(environment.folder, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'name.txt'), readFileSync(environment.path('name.txt')));
    const file = join(environment.folder, 'other.yaml');
    writeFileSync(file, ['name: other', 'root: other', ...setup(), ''].join('\n'), { mode: 0o600 });
    const start = () => deployment.beginWorker(2, file).said('Worker w1 serves');
    await start();
    // They are made ready side by side: one of the two sets up, and the other waits for what that installs.
    expect(runs() + runs(other)).toBe(1);
    await deployment.killWorker();
    uninstall();
    await start();
    expect(runs() + runs(other)).toBe(1);
    for (const workspaceId of ['primary', 'other']) {
      const { stdout } = await deployment
        .caller()
        .run('cat node_modules/pkg/index.js', undefined, { more: { workspaceId } });
      expect(stdout).toBe('.\n');
    }
    await deployment.caller().run('rm -r node_modules; echo changed > name.txt');
    await deployment.killWorker();
    await start();
    expect(runs() + runs(other)).toBe(2);
    expect(kept()).toHaveLength(2);
  });

  it('[D6] cannot be seen or changed by a command, although what it lies in is open to it', async () => {
    define();
    await deployment.startWorker(2);
    writeFileSync(join(opened, 'read-me'), 'open');
    const [key = ''] = kept();
    const kind = readFileSync(join(store, 'snapshots', key, 'manifest.json'), 'utf8');
    for (const lane of [undefined, 'a']) {
      const { stdout } = await deployment.caller().run(
        `cat ${opened}/read-me; ls -A ${store}; cat ${store}/snapshots/*/manifest.json;
           mkdir -p ${store}/snapshots/${key}/0; echo planted > ${store}/snapshots/${key}/0/planted; rm -rf ${store}`,
        lane,
      );
      expect(stdout).toBe('open');
    }
    expect(readdirSync(join(store, 'snapshots', key, '0'))).toEqual(['pkg']);
    expect(readFileSync(join(store, 'snapshots', key, 'manifest.json'), 'utf8')).toBe(kind);
  });

  it('that was not finished when its worker was killed is never restored, and is removed by the next', async () => {
    define();
    const lock = join(store, 'locks/maintenance');
    writeFileSync(lock, '', { mode: 0o600 });
    // Who has this lock keeps the worker from finishing, right before the end.
    const holder = spawn('flock', ['-x', '-o', lock, 'sh', '-c', 'echo on; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    const ended = once(holder, 'exit');
    await once(holder.stdout, 'data');
    try {
      deployment.beginWorker(2);
      const isWritten = () =>
        staged().some((name) => {
          const manifest = join(store, 'staging', name, 'manifest.json');
          return existsSync(manifest) && readFileSync(manifest, 'utf8').includes('"complete"');
        });
      await expect.poll(isWritten).toBe(true);
      await deployment.killWorker();
    } finally {
      process.kill(-(holder.pid ?? 0), 'SIGKILL');
      await ended;
    }
    expect([kept(), staged().length]).toEqual([[], 1]);
    uninstall();
    await deployment.startWorker(2);
    expect(runs()).toBe(2);
    expect([kept().length, staged()]).toEqual([1, []]);
  });

  it('[D9] [D11] is pruned by the command line, but not while a root is set up with it', async () => {
    define('{ retentionMs: 1 }');
    await deployment.startWorker(2);
    const prune = (state: string, ...flags: readonly string[]) =>
      Cli.run(['snapshots', 'prune', environment.file, '--state', join(environment.folder, state), ...flags]);
    expect((await prune('state', '--apply')).stdout).toContain('Nothing is to be removed.');
    expect((await prune('another')).stdout).toContain('would be removed: unused for longer than retentionMs');
    expect(kept()).toHaveLength(1);
    expect((await prune('another', '--apply')).stdout).toContain('removed: unused');
    expect(kept()).toEqual([]);
  });
});
