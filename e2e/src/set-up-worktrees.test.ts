import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from './rig/caller.js';
import { EnvironmentDeployment, EnvironmentFolder } from './rig/environment.js';
import { completedIn, ScriptCalls } from './rig/script-calls.js';

let environment: EnvironmentFolder;
let deployment: EnvironmentDeployment;
let caller: Caller;

beforeAll(async () => {
  environment = new EnvironmentFolder();
  environment.addRepository('copies', 'a', 'b');
  environment.addRepository('modules', 'own', 'none');
  environment.addRepository('library');
  environment.addRepository('parts');
  const library = environment.path('library');
  const allowed = ['-c', 'protocol.file.allow=always'];
  environment.git('parts', ...allowed, 'submodule', '--quiet', 'add', library, 'lib');
  environment.git('parts', 'commit', '--quiet', '--message=Submodule');
  environment.define(
    'name: primary',
    `root: ${environment.root}`,
    'linkedWorktreeLanes: true',
    'repositories:',
    '  - path: copies',
    '    setup: { command: "cat .env", copy: [.env] }',
    '  - path: modules',
    '    setup: { command: "true" }',
    '  - path: parts',
    '    setup: { command: "cat lib/name.txt > copied" }',
  );
  deployment = await EnvironmentDeployment.start(environment, { slots: 2 });
  caller = deployment.caller();
});
afterAll(async () => {
  await deployment.stop();
  environment.remove();
});

describe('the setup of a worktree', () => {
  it('brings ignored files along, and follows no link that stands where one should be', async () => {
    const lane = { repository: 'copies' };
    writeFileSync(environment.path('copies', '.env'), 'KEY=1\n');
    const copied = await caller.run('cat .env', 'a', { more: lane, queueWaitMs: 60_000 });
    expect(copied.stdout).toBe('KEY=1\n');
    writeFileSync(join(environment.folder, 'secret'), 'of the machine\n');
    const planted = 'rm .env && ln -s ../../secret .env';
    await caller.run(planted, undefined, { more: lane });
    const refused = await caller.refused(
      { operation: 'execute_command', command: 'cat .env', ...lane, worktree: 'b' },
      { queueWaitMs: 60_000 },
    );
    expect(refused.code).toBe('WORKSPACE_SETUP_FAILED');
    expect(refused.error).toContain('".env" is not a regular file');
    expect(refused.error).not.toContain('of the machine');
    expect(existsSync(environment.path('copies', '.worktrees/b/.env'))).toBe(false);
  });

  it('[M10] leaves each worktree with the modules of its own branch', async () => {
    const install = (folder: string, version: string) => {
      mkdirSync(join(folder, 'node_modules/leftpad'), { recursive: true });
      writeFileSync(join(folder, 'node_modules/leftpad/index.js'), `module.exports = '${version}';\n`);
    };
    const [own, none] = ['own', 'none'].map((name) => environment.path('modules/.worktrees', name));
    if (own === undefined || none === undefined) throw new Error('two worktrees');
    install(environment.path('modules'), 'of the checkout');
    install(own, 'of the branch');
    const resolve = (worktree: string) =>
      caller.run(`node -p 'require("leftpad")'`, worktree, {
        more: { repository: 'modules' },
        queueWaitMs: 60_000,
      });
    expect((await resolve('own')).stdout).toBe('of the branch\n');
    expect((await resolve('none')).stderr).toContain("Cannot find module 'leftpad'");
    symlinkSync(environment.path('modules', 'node_modules'), join(none, 'node_modules'));
    expect((await resolve('none')).stderr).toContain("Cannot find module 'leftpad'");
  });

  it('[T35] begins with its submodules, from the checkout and without a network', async () => {
    const more = { repository: 'parts' };
    await caller.run('git worktree add -q -b lane/a .worktrees/a', undefined, { more });
    const look = 'cat copied lib/name.txt && git -C lib log -1 --format=%s && git status --short';
    const { stdout, stderr } = await caller.run(look, 'a', { more, queueWaitMs: 60_000 });
    expect([stdout, stderr]).toEqual(['library\nlibrary\nBegin\n?? copied\n', '']);
  });

  it('comes before a script, too, which names repository and worktree by its own fields', async () => {
    environment.git('parts', 'worktree', 'add', '--quiet', '-b', 'lane/script', '.worktrees/script');
    const lane = { workspace_repository: 'parts', workspace_worktree: 'script' };
    const code = 'cat copied; git branch --show-current';
    const answer = await new ScriptCalls(caller).begin(code, lane, { queueWaitMs: 60_000 });
    expect(completedIn(answer).stdout).toBe('library\nlane/script\n');
  });
});
