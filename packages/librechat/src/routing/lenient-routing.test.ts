import type { Operation } from '@codelanes/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  toLaneRequest,
  toLaneRequestLeniently,
  unroutedText,
  type AdvertisedLanes,
  type RoutableRequest,
} from '../index.js';

const lanes: AdvertisedLanes = { repositories: ['api'], worktrees: ['', 'api'] };
const request = (operation: Operation, fields: Partial<RoutableRequest>): RoutableRequest => ({
  workspaceId: 'primary',
  operation,
  ...fields,
});

describe('lenient routing', () => {
  it.each([
    './.worktrees/a/src/x',
    '.worktrees/a//src/x',
    '.worktrees/a/./src/x/',
    'workspace/.worktrees/a/src/x',
    './workspace//.worktrees/a/src/x',
  ])('reads "%s" as the model meant it', (path) => {
    const strict = request('read_file', { path: '.worktrees/a/src/x' });
    const routed = toLaneRequestLeniently(request('read_file', { path }), lanes);
    expect(routed).toStrictEqual(toLaneRequest(strict, lanes));
    expect(routed).toHaveProperty('prefix', '.worktrees/a/');
  });

  it('cleans the cwd of a command and the cursor of a list too', () => {
    expect(
      toLaneRequestLeniently(request('execute_command', { cwd: 'workspace/.worktrees/a/' }), lanes),
    ).toStrictEqual({ request: request('execute_command', { worktree: 'a' }), prefix: '.worktrees/a/' });
    const list = request('list_files', { path: 'workspace/api/', afterPath: 'workspace/api/x' });
    expect(toLaneRequestLeniently(list, lanes)).toStrictEqual({
      request: request('list_files', { repository: 'api', afterPath: 'x' }),
      prefix: 'api/',
    });
  });

  it.each(['workspace/src/x', 'workspace'])('leaves "%s" alone, which may be a real folder', (path) => {
    const given = request('search_text', { path });
    expect(toLaneRequestLeniently(given, lanes)).toStrictEqual({ request: given, reason: 'outside_lanes' });
  });

  it('keeps a repository that is declared beneath a folder of that name', () => {
    const declared = { repositories: ['workspace/api', 'api'], worktrees: [] };
    expect(
      toLaneRequestLeniently(request('read_file', { path: 'workspace/api/x' }), declared),
    ).toHaveProperty('prefix', 'workspace/api/');
  });

  it.each(['.', './', './/.'])('takes "%s" for the workspace itself', (path) => {
    for (const operation of ['search_text', 'list_files'] as const) {
      expect(toLaneRequestLeniently(request(operation, { path }), lanes)).toStrictEqual({
        request: request(operation, {}),
        reason: 'no_path',
      });
    }
    expect(toLaneRequestLeniently(request('write_file', { path }), lanes)).toHaveProperty(
      'refused.field',
      'path',
    );
  });

  it.each(['.worktrees/a/../b/x', '../x', '/etc/passwd', 'C:x', 'a\\b', 'a\nb'])('refuses "%s"', (path) => {
    const refused = { field: 'path', value: path };
    expect(toLaneRequestLeniently(request('read_file', { path }), lanes)).toMatchObject({ refused });
  });

  it('reads the paths of a call that names its lane as they are', () => {
    const given = request('search_text', { worktree: 'b', path: 'workspace/.worktrees/a' });
    expect(toLaneRequestLeniently(given, lanes)).toStrictEqual({ request: given, reason: 'explicit_lane' });
  });

  it('does as strict routing does with every path that is clean', () => {
    const segment = fc.constantFrom('a', '.worktrees', 'api', 'x.lock', 'ä');
    const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join('/'));
    fc.assert(
      fc.property(path, fc.constantFrom('read_file', 'search_text', 'edit_file'), (clean, operation) => {
        const given = request(operation, { path: clean });
        expect(toLaneRequestLeniently(given, lanes)).toStrictEqual(toLaneRequest(given, lanes));
      }),
    );
  });
});

it('every reason has a sentence', () => {
  for (const text of Object.values(unroutedText)) expect(text).toMatch(/^[A-Z].*\.$/);
});
