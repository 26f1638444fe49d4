import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from './rig/caller.js';
import { EnvironmentDeployment, EnvironmentFolder } from './rig/environment.js';

let environment: EnvironmentFolder;
let deployment: EnvironmentDeployment;
let caller: Caller;

beforeAll(async () => {
  environment = new EnvironmentFolder();
  environment.addRepository('api', 'a');
  environment.addRepository('web', 'a');
  environment.define(
    'name: primary',
    'root: src',
    'linkedWorktreeLanes: true',
    'repositories: [{ path: api }, { path: web }]',
  );
  deployment = await EnvironmentDeployment.start(environment, { slots: 2 });
  caller = deployment.caller();
});
afterAll(async () => {
  await deployment.stop();
  environment.remove();
});

const api = { repository: 'api' };
const web = { repository: 'web' };

describe('repositories of one environment, as people reported how theirs met', () => {
  it('[T31] an agent in a worktree of one edits neither its checkout nor another one by an absolute path', async () => {
    const targets = ['api', 'web', 'web/.worktrees/a'].map((path) => environment.path(path, 'name.txt'));
    for (const path of targets) {
      const write = { operation: 'write_file', path, content: 'edited', ...api, worktree: 'a' };
      expect((await caller.refused(write)).status).toBeGreaterThanOrEqual(400);
      await caller.run(`echo edited > ${path}`, 'a', { more: api });
    }
    expect(targets.map((path) => readFileSync(path, 'utf8'))).toEqual(['api\n', 'web\n', 'web\n']);
  });

  it('[T32] each call names where it runs: the one after a call in a repository is at the root', async () => {
    const runs = [
      await caller.run('cd .. 2>/dev/null; cd -; pwd', 'a', { more: api }),
      await caller.run('pwd', undefined, { more: web }),
      await caller.run('pwd'),
    ];
    expect(runs.map(({ stdout }) => stdout.trim().split('\n').at(-1))).toEqual([
      environment.path('api/.worktrees/a'),
      environment.path('web'),
      environment.root,
    ]);
  });

  it('[T36] what looks through the root finds no copies in the worktrees of its repositories', async () => {
    const listed = await caller.succeed({ operation: 'list_files' });
    const found = await caller.succeed({ operation: 'search_text', query: 'api' });
    const shown = JSON.stringify([listed, found]);
    expect(shown).toContain('"api/name.txt"');
    expect(shown).not.toContain('.worktrees/a');
  });

  it('[T41] one cannot empty the modules of another through a link, which leads nowhere there', async () => {
    mkdirSync(environment.path('web/node_modules/left-pad'), { recursive: true });
    writeFileSync(environment.path('web/node_modules/left-pad/index.js'), '');
    symlinkSync(environment.path('web/node_modules'), environment.path('api/.worktrees/a/node_modules'));
    const { stdout } = await caller.run('rm -rf node_modules/*; ls node_modules/', 'a', { more: api });
    expect(stdout).toBe('');
    expect(existsSync(environment.path('web/node_modules/left-pad/index.js'))).toBe(true);
  });

  it('[T42] commands of two listen on one port at once, and neither meets the other', async () => {
    const serve = (name: string) =>
      [
        "node - <<'END'",
        "const { createServer, connect } = require('node:net'), { existsSync, writeFileSync } = require('node:fs');",
        `createServer((other) => other.end('${name}')).listen(3000, '127.0.0.1', () => {`,
        "  writeFileSync('listening', '');",
        '  setInterval(() => {',
        "    if (!existsSync('go')) return;",
        "    connect(3000, '127.0.0.1').on('data', (said) => { console.log(String(said)); process.exit(); });",
        '  }, 50);',
        "}).on('error', ({ code }) => { console.log(code); process.exit(1); });",
        'END',
      ].join('\n');
    const calls = [api, web].map((more) => caller.run(serve(more.repository), 'a', { more }));
    for (const { repository } of [api, web]) {
      const listening = environment.path(repository, '.worktrees/a/listening');
      await expect.poll(() => existsSync(listening)).toBe(true);
    }
    for (const { repository } of [api, web])
      writeFileSync(environment.path(repository, '.worktrees/a/go'), '');
    expect((await Promise.all(calls)).map(({ stdout }) => stdout)).toEqual(['api\n', 'web\n']);
  });

  it('[T43] a change that is stashed in one is popped in no other', async () => {
    await caller.run('echo mine >> name.txt && git stash --quiet', undefined, { more: api });
    const popped = await caller.run('git stash pop', undefined, { more: web });
    expect(popped.exitCode).not.toBe(0);
    expect(readFileSync(environment.path('web/name.txt'), 'utf8')).toBe('web\n');
    await caller.run('git stash pop --quiet && git checkout --quiet name.txt', undefined, { more: api });
  });

  it('[T35] submodules that are empty in a new worktree are named to its first command, and do not keep it from going', async () => {
    const library = `${environment.folder}/library`;
    mkdirSync(library);
    execFileSync(
      'sh',
      ['-c', 'git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m library'],
      {
        cwd: library,
      },
    );
    environment.git('web', '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib');
    environment.git('web', 'commit', '--quiet', '--message=Submodule');
    await caller.run('git worktree add --quiet -b lane/sub .worktrees/sub', undefined, { more: web });
    const first = await caller.run('git -C lib log -1 --format=%s', 'sub', { more: web });
    // This is what misleads: Git speaks of the worktree.
    expect(first.stdout).toBe('Submodule\n');
    expect(first.stderr).toContain(
      'codelanes: Submodules were empty in this worktree when the command began: "lib".',
    );
    expect((await caller.run('true', 'sub', { more: web })).stderr).toBe('');
    const filled = 'git -C lib init --quiet; touch lib/made; git status --short';
    await caller.run(filled, 'sub', { more: web });
    const refused = await caller.run('git worktree remove .worktrees/sub', undefined, { more: web });
    expect(refused.stderr).toContain('containing submodules cannot be moved or removed');
    const forced = 'git worktree remove --force .worktrees/sub && git worktree list --porcelain';
    const removed = await caller.run(forced, undefined, { more: web });
    expect(removed).toMatchObject({ exitCode: 0 });
    expect(removed.stdout).not.toContain('.worktrees/sub');
    expect(existsSync(environment.path('web/.worktrees/sub'))).toBe(false);
  });

  it('[T37] a clean of the checkout spares its worktrees, and the one that does not says what it took and how to have it again', async () => {
    await caller.run('git worktree add --quiet -b lane/clean .worktrees/clean', undefined, { more: api });
    await caller.run('echo wip > wip', 'clean', { more: api });
    const spared = await caller.run('git clean -fdxq', undefined, { more: api });
    expect([spared.exitCode, spared.stderr]).toEqual([0, '']);
    expect((await caller.run('cat wip', 'clean', { more: api })).stdout).toBe('wip\n');

    const taken = await caller.run('git clean -ffdxq', undefined, { more: api });
    const again = 'git worktree prune && git worktree add .worktrees/clean lane/clean';
    expect(taken.stderr).toContain('codelanes: The worktree "clean" is gone');
    expect(taken.stderr).toContain(`run "${again}" in the checkout`);
    const command = { operation: 'execute_command', command: 'touch fell-back', ...api, worktree: 'clean' };
    expect(await caller.refused(command)).toMatchObject({ status: 422 });
    expect(existsSync(environment.path('api/fell-back'))).toBe(false);
    expect((await caller.run(again, undefined, { more: api })).exitCode).toBe(0);
    expect((await caller.run('git branch --show-current', 'clean', { more: api })).stdout).toBe(
      'lane/clean\n',
    );
    await caller.run('git worktree add --quiet .worktrees/a lane/a', undefined, { more: api });
  });

  it('[T39] a worktree that a command makes in one is a lane of that repository at once, and of no other', async () => {
    await caller.run('git worktree add --quiet -b lane/b .worktrees/b', undefined, { more: api });
    const inIt = await caller.run('git branch --show-current; cat name.txt', 'b', { more: api });
    expect(inIt.stdout).toBe('lane/b\napi\n');
    const elsewhere = { operation: 'read_file', path: 'name.txt', worktree: 'b' };
    expect(await caller.refused({ ...elsewhere, ...web })).toMatchObject({ status: 422 });
    expect(await caller.refused(elsewhere)).toMatchObject({ status: 409, code: 'WORKER_MISMATCH' });
  });
});
