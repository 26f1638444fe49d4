import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { counting } from '../rig/caller.js';
import { EnvironmentDeployment, EnvironmentFolder } from '../rig/environment.js';
import { before, overlap, spanOf, stamped } from '../rig/stamps.js';
import { LibreChatServer } from './librechat-server.js';
import { statusOfGenerationA } from './status-rules.js';

const command = { protocolVersion: 1, operation: 'execute_command', workspaceId: 'primary' } as const;
const list = { protocolVersion: 1, operation: 'list_files', workspaceId: 'primary' } as const;
const search = { protocolVersion: 1, operation: 'search_text', workspaceId: 'primary' } as const;
const read = { protocolVersion: 1, operation: 'read_file', workspaceId: 'primary' } as const;
const printedSchema = z.object({ stdout: z.string(), exitCode: z.number() });

let environment: EnvironmentFolder;
let deployment: EnvironmentDeployment;
let librechat: LibreChatServer;

beforeAll(async () => {
  environment = new EnvironmentFolder();
  environment.addRepository('.', 'a', 'b');
  environment.addRepository('services/api', 'x');
  environment.define(
    'name: primary',
    `root: ${environment.root}`,
    'linkedWorktreeLanes: true',
    'laneRouting: by-path',
    'repositories:',
    '  - { path: services/api }',
  );
  deployment = await EnvironmentDeployment.start(environment, { slots: 2 });
  const { CODELANES_URL = '', CODELANES_TOKEN = '' } = deployment.asCaller;
  librechat = new LibreChatServer(CODELANES_URL, CODELANES_TOKEN);
});
afterAll(async () => {
  await deployment.stop();
  environment.remove();
});

/** A command as LibreChat of generation A sends it: it knows no lanes, and so no field for them. */
async function run(text: string, more: { readonly cwd?: string; readonly workspaceId?: string } = {}) {
  return printedSchema.parse(
    await librechat.result({ ...command, command: text, timeoutMs: 60_000, ...more }),
  );
}

/** Runs until the file `go` is put in its working directory, which it takes away again. */
const untilGo = stamped('touch begun; until [ -e go ]; do sleep 0.05; done; rm go begun');
/** A call that counts as running may not have begun yet. */
const begun = (...folder: readonly string[]) =>
  expect.poll(() => existsSync(environment.path(...folder, 'begun'))).toBe(true);
const letGo = (...folder: readonly string[]) => {
  writeFileSync(environment.path(...folder, 'go'), '');
};

describe('a LibreChat of generation A, in an environment that routes by path', () => {
  it('[L22] runs commands of two worktrees at once by their cwd, and a command at the root after both', async () => {
    const a = run(untilGo, { cwd: '.worktrees/a' });
    const b = run(untilGo, { cwd: '.worktrees/b' });
    await deployment.caller().lanesOnce(counting(2, 0));
    const root = run(stamped('true'), { cwd: 'services' });
    await deployment.caller().lanesOnce(counting(2, 1));
    const late = run(stamped('true'), { cwd: '.worktrees/a' });
    await deployment.caller().lanesOnce(counting(2, 2));
    await Promise.all([begun('.worktrees', 'a'), begun('.worktrees', 'b')]);
    letGo('.worktrees', 'a');
    letGo('.worktrees', 'b');
    const [spanA, spanB, spanRoot, spanLate] = (await Promise.all([a, b, root, late])).map(spanOf);
    if (!spanA || !spanB || !spanRoot || !spanLate) throw new Error('four results');
    expect(overlap(spanA, spanB)).toBe(true);
    expect([before(spanA, spanRoot), before(spanB, spanRoot), before(spanRoot, spanLate)]).toEqual([
      true,
      true,
      true,
    ]);
  }, 120_000);

  it('works in the worktrees of repositories beside those of the root', async () => {
    const a = run(untilGo, { cwd: '.worktrees/a' });
    const x = run(untilGo, { cwd: 'services/api/.worktrees/x' });
    const { running } = await deployment.caller().lanesOnce(counting(2, 0));
    letGo('.worktrees', 'a');
    letGo('services', 'api', '.worktrees', 'x');
    expect((await Promise.all([a, x])).map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(running.map(({ lane }) => lane)).toEqual(
      expect.arrayContaining([
        ['primary', 'worktree:a'],
        ['primary', 'repo:services/api', 'worktree:x'],
      ]),
    );
  }, 120_000);

  it('gets the paths that it sent from every tool, and its client takes them', async () => {
    expect(await librechat.result({ ...read, path: '.worktrees/a/name.txt' })).toMatchObject({
      path: '.worktrees/a/name.txt',
    });
    const listed = await librechat.result({ ...list, path: 'services/api/.worktrees/x', maxResults: 1 });
    expect(listed).toMatchObject({
      paths: ['services/api/.worktrees/x/.gitignore'],
      nextAfterPath: 'services/api/.worktrees/x/.gitignore',
    });
    const further = { path: 'services/api/.worktrees/x', afterPath: 'services/api/.worktrees/x/.gitignore' };
    expect(await librechat.result({ ...list, ...further })).toMatchObject({
      paths: ['services/api/.worktrees/x/name.txt'],
    });
    expect(
      await librechat.result({ ...search, query: 'services', path: 'services/api/.worktrees/x' }),
    ).toMatchObject({ matches: [{ path: 'services/api/.worktrees/x/name.txt', line: 1 }] });
    const write = { ...read, operation: 'write_file', content: 'new\n' } as const;
    expect(await librechat.result({ ...write, path: '.worktrees/b/made/new.txt' })).toMatchObject({
      path: '.worktrees/b/made/new.txt',
    });
    const edit = { ...read, operation: 'edit_file', edits: [{ oldText: 'new', newText: 'newer' }] } as const;
    expect(await librechat.result({ ...edit, path: '.worktrees/b/made/new.txt' })).toMatchObject({
      path: '.worktrees/b/made/new.txt',
    });
    expect(readFileSync(environment.path('.worktrees', 'b', 'made', 'new.txt'), 'utf8')).toBe('newer\n');
  });

  it('is walled into the lane of its cwd, whose name it never has to know', async () => {
    const seen = await run('git branch --show-current; ls ../b 2>&1 || echo walled', { cwd: '.worktrees/a' });
    expect(seen.stdout).toMatch(/^lane\/a\n/);
    expect(seen.stdout).toMatch(/walled\n$/);
  });

  it('is refused where a path escapes: by "..", by a link, by a name that is no worktree', async () => {
    symlinkSync('../b', environment.path('.worktrees', 'a', 'beside'));
    const dotted = await librechat.refusal({ ...command, command: 'touch in', cwd: '.worktrees/a/../b' });
    expect(dotted).toMatchObject({ status: 400, refusal: 'final' });
    for (const request of [
      { ...command, command: 'touch in', cwd: '.worktrees/a/beside' },
      { ...read, path: '.worktrees/a/beside/name.txt' },
      { ...command, command: 'touch in', cwd: '.worktrees/none' },
    ]) {
      const refused = await librechat.refusal(request);
      expect([refused.status, refused.refusal]).toEqual([422, 'final']);
    }
    expect((await run('ls', { cwd: '.worktrees/b' })).stdout).not.toContain('in\n');
  });

  it('[L27] sees no key that it does not know, in the status or in a result', async () => {
    const { CODELANES_WORKER = '' } = deployment.asCaller;
    const status = await librechat.ask('GET', `/bridge/workers/${CODELANES_WORKER}/status`);
    expect(statusOfGenerationA.safeParse(status.json).error).toBeUndefined();
    expect(status.body).not.toContain('laneRouting');
    const own = await deployment.caller().send('GET', `/v1/bridge/workers/${CODELANES_WORKER}/status`);
    expect(own.text).toContain('"laneRouting":"by-path"');
  });
});

describe('a client that names its lane, in an environment that routes by path', () => {
  it('has its paths taken as relative to that lane', async () => {
    const caller = deployment.caller();
    const inLane = { operation: 'read_file', worktree: 'a', path: 'name.txt' };
    expect(await caller.succeed(inLane)).toMatchObject({ path: 'name.txt' });
    const { code } = await caller.refused({ ...inLane, path: '.worktrees/b/name.txt' });
    expect(code).toBe('NOT_FOUND');
  });
});
