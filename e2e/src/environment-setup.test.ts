import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Cli } from './rig/cli.js';
import { EnvironmentDeployment, EnvironmentFolder } from './rig/environment.js';
import { newMarker, processesWith, untilSleeping } from './rig/live-processes.js';

const statusPath = '/v1/bridge/workers/w1/status';
const serves = 'Worker w1 serves';

let environment: EnvironmentFolder;
let deployment: EnvironmentDeployment;

beforeEach(async () => {
  environment = new EnvironmentFolder();
  environment.addRepository('.', 'a');
  deployment = await EnvironmentDeployment.start(environment, { slots: 0 });
});
afterEach(async () => {
  await deployment.stop();
  environment.remove();
});

const define = (...lines: readonly string[]) => {
  environment.define('name: primary', 'root: src', 'linkedWorktreeLanes: true', ...lines);
};
/** How often a setup that leaves a dot in `runs` has run. */
const runs = () =>
  existsSync(environment.path('runs')) ? readFileSync(environment.path('runs'), 'utf8').length : 0;
const isOnline = async () => {
  const { text } = await deployment.caller().send('GET', statusPath);
  return text.includes('"online":true');
};

describe('the setup of an environment', () => {
  it('[E11] runs walled at its root before the worker registers, and what it says is shown to no caller', async () => {
    define(
      'setup:',
      '  command: |',
      '    pwd > where; echo "said by the setup"',
      `    cat ${environment.folder}/environment.yaml > stolen; echo x > ${environment.folder}/planted`,
      '    touch begun; until [ -e go ]; do sleep 0.05; done',
      '    printf . >> runs',
    );
    const worker = deployment.beginWorker(2);
    await expect.poll(() => existsSync(environment.path('begun'))).toBe(true);
    expect(await isOnline()).toBe(false);
    writeFileSync(environment.path('go'), '');
    await worker.said(serves);
    expect(await isOnline()).toBe(true);
    expect(readFileSync(environment.path('where'), 'utf8')).toBe(`${environment.root}\n`);
    expect(readFileSync(environment.path('stolen'), 'utf8')).toBe('');
    expect(existsSync(join(environment.folder, 'planted'))).toBe(false);
    const status = await deployment.caller().send('GET', statusPath);
    expect(status.text).not.toContain('said by the setup');
  });

  it.each([
    ['fails', 'command: "echo its own words >&2; exit 3"', 'Its setup ended with status 3.'],
    [
      'takes too long',
      'command: echo its own words; sleep 600\n  timeoutMs: 8000',
      'Its setup took longer than 8000 ms and was ended.',
    ],
  ])(
    '[E12] [E13] that %s keeps the worker from serving, and the next start simply tries again',
    async (_, setup, said) => {
      define('setup:', `  ${setup}`);
      const { status, stderr } = await deployment.beginWorker(2).ended;
      expect(status).not.toBe(0);
      expect(stderr).toContain(`Workspace "primary" is not served. ${said}`);
      expect(stderr).toContain('its own words');
      expect(await isOnline()).toBe(false);
      define('setup: { command: printf . >> runs }');
      await deployment.startWorker(2);
      expect(runs()).toBe(1);
    },
  );

  it('[E14] that fails takes no other environment along', async () => {
    define('setup: { command: exit 1 }');
    mkdirSync(join(environment.folder, 'other'));
    const other = join(environment.folder, 'other.yaml');
    writeFileSync(other, 'name: other\nroot: other\n', { mode: 0o600 });
    const worker = deployment.beginWorker(2, other);
    await worker.said(serves);
    expect(worker.stderr).toContain('Workspace \\"primary\\" is not served. Its setup ended with status 1.');
    const caller = deployment.caller();
    expect((await caller.run('true', undefined, { more: { workspaceId: 'other' } })).exitCode).toBe(0);
    const refused = await caller.refused({ operation: 'execute_command', command: 'true' });
    expect(refused).toMatchObject({ code: 'WORKER_MISMATCH' });
    expect(refused.error).toContain('it offers "other"');
  });

  it('[E14] runs beside those of other environments, as many at once as the worker has slots', async () => {
    const names = ['first', 'second', 'third'];
    const files = names.map((name) => {
      mkdirSync(join(environment.folder, name));
      const file = join(environment.folder, `${name}.yaml`);
      const command = 'touch begun; until [ -e go ]; do sleep 0.05; done';
      writeFileSync(file, `name: ${name}\nroot: ${name}\nsetup: { command: "${command}" }\n`, {
        mode: 0o600,
      });
      return file;
    });
    define();
    const worker = deployment.beginWorker(2, ...files);
    const begun = () => names.filter((name) => existsSync(join(environment.folder, name, 'begun')));
    const letGo = (name: string) => {
      writeFileSync(join(environment.folder, name, 'go'), '');
    };
    await expect.poll(begun).toEqual(['first', 'second']);
    letGo('second');
    await expect.poll(begun).toEqual(names);
    expect(await isOnline()).toBe(false);
    letGo('first');
    letGo('third');
    expect(await worker.said(/Worker w1 serves .*/u)).toContain('primary, first, second, third');
  });

  it('is told by the command line with its log, and with what runs it again', async () => {
    const cli = (...words: readonly string[]) =>
      Cli.run(['setup', ...words, '--state', join(environment.folder, 'state')]);
    define('setup: { command: "echo its own words; exit 3" }');
    await deployment.beginWorker(2).ended;
    expect((await cli('status')).stdout).toMatch(
      /primary +failed .*ended with status 3.*start the worker again/u,
    );
    expect((await cli('log', 'primary')).stdout).toContain('its own words\n');
    const retry = await cli('retry', 'primary');
    expect(retry.status).not.toBe(0);
    expect(retry.stderr).toContain('start the worker again');
    define('setup: { command: printf . >> runs }');
    await deployment.startWorker(2);
    expect((await cli('status')).stdout).toMatch(/primary +ready/u);
  });

  it('runs again after its worker was killed in the middle of it, and nothing of the first run is left', async () => {
    const marker = newMarker();
    define('setup:', `  command: "printf . >> runs; [ -e again ] || sleep ${marker}"`);
    deployment.beginWorker(2);
    await untilSleeping(marker);
    await deployment.killWorker();
    writeFileSync(environment.path('again'), '');
    await deployment.startWorker(2);
    expect(runs()).toBe(2);
    expect(processesWith(marker)).toEqual([]);
  });

  it('is stopped with its worker', async () => {
    const marker = newMarker();
    define(`setup: { command: printf . >> runs; sleep ${marker} }`);
    const worker = deployment.beginWorker(2);
    await untilSleeping(marker);
    const { stderr } = await worker.end('SIGTERM');
    expect(stderr).toContain('stopped before it had registered');
    expect(processesWith(marker)).toEqual([]);
  });

  it('[P1] [P11] is spared where its check holds, over restarts; commands neither see nor make its receipt', async () => {
    define(
      'setup:',
      '  command: printf . >> runs',
      '  reuse: { inputs: [name.txt], checkCommand: test -e runs }',
    );
    await deployment.startWorker(2);
    await deployment.killWorker();
    await deployment.startWorker(2);
    expect(runs()).toBe(1);
    const state = join(environment.folder, 'state');
    const receipts = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('receipt.json'),
    );
    expect(receipts).toHaveLength(1);
    const receipt = join(state, receipts[0] ?? '');
    const before = readFileSync(receipt, 'utf8');
    const attack = await deployment
      .caller()
      .run(`cat ${receipt}; echo x > ${receipt}; rm -rf ${state}/roots; true`);
    expect(attack.stdout).toBe('');
    expect(readFileSync(receipt, 'utf8')).toBe(before);
    await deployment.caller().run('echo other > name.txt');
    await deployment.killWorker();
    await deployment.startWorker(2);
    expect(runs()).toBe(2);
  });

  it('[D7] is put off where the disk has too little room, before anything of it runs', async () => {
    define(
      'setup: { command: printf . >> runs }',
      'storage: { minFreeBytes: 9007199254740991, setupReserveBytes: 0 }',
    );
    const { stderr } = await deployment.beginWorker(2).ended;
    expect(stderr).toMatch(/Its setup is put off: \d+ bytes are free and 9007199254740991 wanted/u);
    expect(runs()).toBe(0);
  });
});

describe('the caches of an environment', () => {
  const cache = (name: string) => join(environment.folder, name);

  beforeEach(async () => {
    for (const name of ['npm', 'browsers']) mkdirSync(cache(name), { mode: 0o700 });
    writeFileSync(join(cache('browsers'), 'chromium'), 'a browser');
    define(
      'setup: { command: echo warm > "$npm_config_cache/made-by-setup" }',
      'resources:',
      `  - { kind: npm-cache, path: ${cache('npm')}, access: read-write }`,
      `  - { kind: playwright-browsers, path: ${cache('browsers')}, access: read-only }`,
    );
    await deployment.startWorker(2);
  });

  it('[X3] are found by their tools in the checkout and in worktrees, and shared among them', async () => {
    const caller = deployment.caller();
    const variables = 'echo "$npm_config_cache $PLAYWRIGHT_BROWSERS_PATH ${UV_CACHE_DIR-none}"';
    for (const lane of [undefined, 'a']) {
      const { stdout } = await caller.run(variables, lane);
      expect(stdout).toBe(`${cache('npm')} ${cache('browsers')} none\n`);
    }
    await caller.run('echo hot > "$npm_config_cache/made-by-a"', 'a');
    const { stdout } = await caller.run('cat "$npm_config_cache"/* "$PLAYWRIGHT_BROWSERS_PATH"/*');
    expect(stdout).toBe('hot\nwarm\na browser');
  });

  it('[X3] are read-only where the definition says so', async () => {
    const { exitCode, stderr } = await deployment
      .caller()
      .run('echo x > "$PLAYWRIGHT_BROWSERS_PATH/chromium"', 'a');
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('Read-only file system');
    expect(readFileSync(join(cache('browsers'), 'chromium'), 'utf8')).toBe('a browser');
  });

  it.each<[string, () => void]>([
    [
      'was replaced',
      () => {
        renameSync(cache('npm'), cache('npm-old'));
        mkdirSync(cache('npm'), { mode: 0o700 });
      },
    ],
    [
      'is open to others',
      () => {
        chmodSync(cache('npm'), 0o755);
      },
    ],
  ])('[X2] that %s since the start is not mounted, and no command runs without it', async (_, change) => {
    change();
    const refused = await deployment.caller().refused({ operation: 'execute_command', command: 'touch ran' });
    expect(refused).toMatchObject({ code: 'COMMAND_UNAVAILABLE' });
    expect(refused.error).toContain('npm-cache');
    expect(existsSync(environment.path('ran'))).toBe(false);
  });
});
