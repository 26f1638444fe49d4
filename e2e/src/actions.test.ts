import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Caller } from './rig/caller.js';
import { Cli } from './rig/cli.js';
import { EnvironmentDeployment, EnvironmentFolder } from './rig/environment.js';

const statusPath = '/v1/bridge/workers/w1/status';
/** Clients that do not say that they are ours get what the operator set: A, unless told otherwise. */
const foreign = { headers: { 'x-codelanes-client': '0' } };

const statusSchema = z.looseObject({
  capabilities: z.looseObject({
    workspaceTools: z.looseObject({
      workspaces: z.array(
        z.looseObject({
          id: z.string(),
          environment: z.looseObject({ fingerprint: z.string(), actions: z.array(z.string()) }).optional(),
        }),
      ),
    }),
  }),
});

let environment: EnvironmentFolder;
let deployment: EnvironmentDeployment;
let caller: Caller;

beforeAll(async () => {
  environment = new EnvironmentFolder();
  environment.addRepository('api', 'a');
  environment.addRepository('libs/web');
  environment.define(
    'name: primary',
    `root: ${environment.root}`,
    'linkedWorktreeLanes: true',
    'actions:',
    '  - { name: where, command: "pwd; ls" }',
    '  - { name: slow, command: "sleep 600", timeoutMs: 300 }',
    'repositories:',
    '  - path: api',
    '    actions:',
    '      - { name: where, command: "pwd; cat ../libs/web/name.txt || true; touch made" }',
    '      - { name: branch, command: git branch --show-current }',
    '  - path: libs/web',
  );
  deployment = await EnvironmentDeployment.start(environment, { slots: 2 });
  caller = deployment.caller();
});
afterAll(async () => {
  await deployment.stop();
  environment.remove();
});

/** The fingerprint that clients see of a workspace. */
async function fingerprintOf(id: string): Promise<string> {
  const { json } = await caller.send('GET', statusPath, undefined, foreign);
  const { workspaces } = statusSchema.parse(json).capabilities.workspaceTools;
  return workspaces.find((workspace) => workspace.id === id)?.environment?.fingerprint ?? '';
}

const asking = async (name: string, of: string, more: object = {}) => ({
  operation: 'execute_command',
  command: 'touch placeholder-ran',
  environmentAction: { name, fingerprint: await fingerprintOf(of) },
  ...more,
});

const stdoutOf = async (fields: Awaited<ReturnType<typeof asking>>): Promise<string> => {
  const result = await caller.succeed(fields);
  return result.operation === 'execute_command' ? result.stdout : '';
};

describe('the actions of a definition', () => {
  it('[E2] of the environment run at its root, in place of the command that came along', async () => {
    expect(await stdoutOf(await asking('where', 'primary'))).toBe(`${environment.root}\napi\nlibs\n`);
    expect(existsSync(environment.path('placeholder-ran'))).toBe(false);
  });

  it('of a repository run in its checkout, by the field as by its workspace, walled there', async () => {
    const checkout = environment.path('api');
    for (const more of [{ repository: 'api' }, { workspaceId: 'primary:api' }]) {
      expect(await stdoutOf(await asking('where', 'primary:api', more))).toBe(`${checkout}\n`);
    }
    expect(existsSync(`${checkout}/made`)).toBe(true);
  });

  it('of a repository run in the worktree that the call names, and in no other place', async () => {
    const inWorktree = { repository: 'api', worktree: 'a' };
    expect(await stdoutOf(await asking('branch', 'primary:api', inWorktree))).toBe('lane/a\n');
    expect(await stdoutOf(await asking('where', 'primary:api', inWorktree))).toBe(
      `${environment.path('api/.worktrees/a')}\n`,
    );
    expect(existsSync(environment.path('api/.worktrees/a/made'))).toBe(true);
  });

  it('[E2] end after their own time, or that of the call where it is shorter', async () => {
    const slow = await asking('slow', 'primary', { timeoutMs: 300_000 });
    expect(await caller.succeed(slow)).toMatchObject({ timedOut: true, exitCode: null });
  });

  it('[E2] are refused with another fingerprint, an unknown name, or a working directory', async () => {
    const stale = { ...(await asking('where', 'primary')), repository: 'api' };
    const unknown = await asking('deploy', 'primary:api', { repository: 'api' });
    const elsewhere = await asking('where', 'primary', { cwd: 'api' });
    const none = await asking('where', 'primary:libs.web', { workspaceId: 'primary:libs.web' });
    for (const [fields, sentence] of [
      [stale, 'is not the one that was seen'],
      [unknown, 'It has "where", "branch".'],
      [elsewhere, 'leave cwd out'],
      [none, 'It has none.'],
    ] as const) {
      const refused = await caller.refused(fields);
      expect(refused).toMatchObject({ status: 422, code: 'INVALID_REQUEST' });
      expect(refused.error).toContain(sentence);
    }
    expect(existsSync(environment.path('placeholder-ran'))).toBe(false);
  });

  it('are asked for on the command line by their names', async () => {
    const where = ['--workspace', 'primary', '--repository', 'api', '--worktree', 'a'];
    const { asCaller } = deployment;
    const run = (...words: readonly string[]) =>
      Cli.run(['exec', ...where, ...words], { environment: asCaller });
    const [branch, unknown, both] = await Promise.all([
      run('--action', 'branch'),
      run('--action', 'deploy'),
      run('--action', 'branch', '--', 'true'),
    ]);
    expect(branch).toMatchObject({ status: 0, stdout: 'lane/a\n' });
    expect(unknown).toMatchObject({ status: 125, stdout: '' });
    expect(unknown.stderr).toContain('It has where, branch.');
    expect(both.status).toBe(2);
  });

  it('are known to callers by their names alone', async () => {
    for (const headers of [{}, foreign]) {
      const { text } = await caller.send('GET', statusPath, undefined, headers);
      expect(text).toContain('"actions":["where","branch"]');
      expect(text).not.toMatch(/sleep 600|show-current/u);
    }
  });
});

describe('definitions of today, served side by side', () => {
  const folder = new EnvironmentFolder();
  let served: EnvironmentDeployment;

  /** What the existing worker and its clients say: SHA-256 of the definition as JSON, with its canonical root. */
  const sha256 = (definition: object) =>
    createHash('sha256').update(JSON.stringify(definition)).digest('hex');

  const definitions = [
    { lines: ['name: plain'], keys: { name: 'plain' } },
    {
      lines: ['name: labelled', 'repo: owner/name', 'ref: feature/x'],
      keys: { name: 'labelled', repo: 'owner/name', ref: 'feature/x' },
    },
    { lines: ['name: none', 'actions: []'], keys: { name: 'none', actions: [] } },
    {
      lines: [
        'name: Full_1-x',
        'repo: owner/name.js',
        'setup: { command: "true" }',
        'actions:',
        '  - { command: npm test, name: test }',
        '  - { name: lint, command: npm run lint, timeoutMs: 60000 }',
      ],
      keys: {
        name: 'Full_1-x',
        repo: 'owner/name.js',
        setup: { command: 'true', timeoutMs: 300_000 },
        actions: [
          { name: 'test', command: 'npm test', timeoutMs: 30_000 },
          { name: 'lint', command: 'npm run lint', timeoutMs: 60_000 },
        ],
      },
    },
  ] as const;

  const rootOf = (name: string) => join(folder.folder, 'roots', name);
  const workspaceText = (keys: (typeof definitions)[number]['keys']) => {
    const { name, ...more } = keys;
    const { repo, ref, actions = [] } = { repo: undefined, ref: undefined, actions: undefined, ...more };
    const environment = {
      fingerprint: sha256({ name, root: rootOf(name), ...more }),
      repo,
      ref,
      actions: actions.map((action) => action.name),
    };
    return JSON.stringify({ id: name, name, environment });
  };

  beforeAll(async () => {
    const files = definitions.map(({ lines, keys: { name } }) => {
      mkdirSync(rootOf(name), { recursive: true });
      const file = join(folder.folder, `${name}.yaml`);
      writeFileSync(file, [...lines, `root: roots/${name}`].join('\n'), { mode: 0o600 });
      return file;
    });
    mkdirSync(folder.root, { recursive: true });
    folder.define('name: last', `root: ${folder.root}`);
    served = await EnvironmentDeployment.start(folder, { slots: 0 });
    await served.beginWorker(2, ...files).said('Worker w1 serves');
  });
  afterAll(async () => {
    await served.stop();
    folder.remove();
  });

  it('[E2] are in the status of generation A, byte for byte, what they are today', async () => {
    const { text } = await served.caller().send('GET', statusPath, undefined, foreign);
    const workspaces = definitions.map(({ keys }) => workspaceText(keys));
    const lease = /"leaseExpiresInMs":(\d+)/u.exec(text)?.[1] ?? '';
    const last = JSON.stringify({
      id: 'last',
      name: 'last',
      environment: { fingerprint: sha256({ name: 'last', root: folder.root }), actions: [] },
    });
    // Scripts are offered on machines that have their programs, whatever a definition says.
    expect(text.replaceAll(',"programmaticLanguages":["bash"]', '')).toBe(
      `{"protocolVersion":1,"workerId":"w1","online":true,"ready":true,"leaseExpiresInMs":${lease},` +
        '"maxCommandTimeoutMs":300000,"capabilities":{"statefulWorkspace":true,' +
        '"sandboxProfile":"codelanes-bubblewrap","runtimes":["bash"],"workspaceTools":{"protocolVersion":1,' +
        '"operations":["read_file","search_text","list_files","write_file","preview_edit","edit_file","execute_command"],' +
        `"workspaces":[${[last, ...workspaces].join(',')}],` +
        '"writeFileModes":["replace","create"],"editFileModes":["single","batch"],' +
        '"editFileFeatures":["expected_base_sha256","tolerant_match","replace_all"],"listFileFeatures":["after_path"]}}}',
    );
  });
});
