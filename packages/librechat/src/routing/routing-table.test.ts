import type { Operation } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import { toLaneRequest, type AdvertisedLanes, type RoutableRequest, type UnroutedReason } from '../index.js';

const lanes: AdvertisedLanes = { repositories: [], worktrees: [''] };
const fileTools = ['read_file', 'write_file', 'edit_file', 'preview_edit'] as const;
const scoped = ['search_text', 'list_files'] as const;
const digest = '0'.repeat(64);

function request(operation: Operation, fields: Partial<RoutableRequest>): RoutableRequest {
  return { workspaceId: 'primary', operation, ...fields };
}

function expectLane(given: RoutableRequest, fields: Partial<RoutableRequest>): void {
  const { path: _path, cwd: _cwd, afterPath: _afterPath, ...rest } = given;
  expect(toLaneRequest(given, lanes)).toStrictEqual({
    request: { ...rest, ...fields, worktree: 'a' },
    prefix: '.worktrees/a/',
  });
}

function expectUnchanged(given: RoutableRequest, reason: UnroutedReason, advertised = lanes): void {
  expect(toLaneRequest(given, advertised)).toStrictEqual({ request: given, reason });
}

describe('routed into the worktree', () => {
  it.each(fileTools)('[L20] %s of a file beneath it', (operation) => {
    expectLane(request(operation, { path: '.worktrees/a/src/x' }), { path: 'src/x' });
  });

  it.each(scoped)('[L20] %s of its directory drops the path', (operation) => {
    expectLane(request(operation, { path: '.worktrees/a' }), {});
  });

  it.each(scoped)('[L20] %s of a folder beneath it', (operation) => {
    expectLane(request(operation, { path: '.worktrees/a/src' }), { path: 'src' });
  });

  it('[L20] a list that continues inside it trims both paths', () => {
    const given = request('list_files', { path: '.worktrees/a/src', afterPath: '.worktrees/a/src/x' });
    expectLane(given, { path: 'src', afterPath: 'src/x' });
  });

  it('[L20] a command in its directory drops the cwd', () => {
    expectLane(request('execute_command', { cwd: '.worktrees/a' }), {});
  });

  it('[L20] a command in a folder beneath it', () => {
    expectLane(request('execute_command', { cwd: '.worktrees/a/pkg' }), { cwd: 'pkg' });
  });

  it('takes only the first segment as the name, so nested names lead to a lane that the worker refuses', () => {
    const given = request('read_file', { path: '.worktrees/a/name/x' });
    expectLane(given, { path: 'name/x' });
  });

  it.each(['src/[ab]*.ts', 'src/**'])('treats "%s" literally', (path) => {
    expectLane(request('search_text', { path: `.worktrees/a/${path}` }), { path });
  });
});

describe('left as it is', () => {
  it.each(fileTools)('%s of the lane directory itself', (operation) => {
    expectUnchanged(request(operation, { path: '.worktrees/a' }), 'lane_directory');
  });

  it.each([...scoped, 'execute_command'] as const)('%s without a path', (operation) => {
    expectUnchanged(request(operation, {}), 'no_path');
  });

  it.each(scoped)('%s of all worktrees', (operation) => {
    expectUnchanged(request(operation, { path: '.worktrees' }), 'outside_lanes');
  });

  it.each([
    ['in another worktree', '.worktrees/b/x'],
    ['at the lane directory', '.worktrees/a'],
    ['at a name that no worktree can bear', '.worktrees/x.lock/y'],
  ])('a list whose cursor stands %s', (_, afterPath) => {
    expectUnchanged(request('list_files', { path: '.worktrees/a', afterPath }), 'cursor_outside_lane');
  });

  it('a digest-fenced read of instructions', () => {
    const given = request('read_file', { path: 'AGENTS.md', instructionSha256: digest });
    expectUnchanged(given, 'instructions');
  });

  it('a command with an environment action', () => {
    const environmentAction = { name: 'test', fingerprint: digest };
    expectUnchanged(
      request('execute_command', { cwd: '.worktrees/a', environmentAction }),
      'environment_action',
    );
  });

  it.each(fileTools)('%s in a conversation instance', (operation) => {
    const given = request(operation, { path: '.worktrees/a/x', workspaceInstanceId: 'a'.repeat(64) });
    expectUnchanged(given, 'conversation_instance');
  });

  it.each([{ worktree: 'b' }, { repository: 'agents' }])('a request that names its lane: %o', (lane) => {
    expectUnchanged(request('read_file', { path: '.worktrees/a/x', ...lane }), 'explicit_lane');
  });

  it.each(['-bad', 'x.lock', '.hidden', 'a'.repeat(129), 'ä', ''])('the worktree name "%s"', (name) => {
    expectUnchanged(request('read_file', { path: `.worktrees/${name}/x` }), 'invalid_worktree_name');
  });

  it.each([
    './.worktrees/a/x',
    '.Worktrees/a/x',
    'workspace/.worktrees/a/x',
    '.worktrees\\a\\x',
    '/abs/.worktrees/a',
    '.worktreesx/a/x',
  ])('"%s", for nothing is normalised', (path) => {
    expectUnchanged(request('search_text', { path }), 'outside_lanes');
  });

  it.each([...fileTools, ...scoped])('[L21] %s where no lanes are advertised', (operation) => {
    const given = request(operation, { path: '.worktrees/a/src/x' });
    expectUnchanged(given, 'outside_lanes', { repositories: [], worktrees: [] });
  });

  it('[L21] a command where no lanes are advertised', () => {
    const given = request('execute_command', { cwd: '.worktrees/a' });
    expectUnchanged(given, 'outside_lanes', { repositories: [], worktrees: [] });
  });
});

describe('repositories', () => {
  const nested = { repositories: ['libs', 'libs/ui'], worktrees: ['libs'] };

  it('chooses the longest declared path', () => {
    const given = request('read_file', { path: 'libs/ui/x' });
    expect(toLaneRequest(given, nested)).toStrictEqual({
      request: { ...given, path: 'x', repository: 'libs/ui' },
      prefix: 'libs/ui/',
    });
  });

  it('leaves a worktree folder alone in a repository that advertises no worktrees', () => {
    const given = request('read_file', { path: 'libs/ui/.worktrees/a/x' });
    expect(toLaneRequest(given, nested)).toStrictEqual({
      request: { ...given, path: '.worktrees/a/x', repository: 'libs/ui' },
      prefix: 'libs/ui/',
    });
  });

  it('leaves a list of a repository unrouted when it continues in a worktree of it', () => {
    const given = request('list_files', { path: 'libs', afterPath: 'libs/.worktrees/a/x' });
    expectUnchanged(given, 'cursor_outside_lane', nested);
  });
});
