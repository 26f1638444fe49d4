import { describe, expect, it } from 'vitest';
import { chosenWorkspace, requestOf } from './request-of.js';

describe('requestOf', () => {
  it('names the lane by its field, leaves out what was not said, and asks for as much output as there may be', () => {
    expect(requestOf('app', ['ls', 'a b'], { worktree: 'a' })).toEqual({
      protocolVersion: 1,
      operation: 'execute_command',
      workspaceId: 'app',
      command: "ls 'a b'",
      maxOutputBytes: 1_048_576,
      worktree: 'a',
    });
  });

  it('names a repository by its declared path', () => {
    const request = requestOf('app', ['true'], { repository: 'libs/web', worktree: 'a' });
    expect(request).toMatchObject({ workspaceId: 'app', repository: 'libs/web', worktree: 'a' });
  });

  it('asks for an action without a command, and for its own time', () => {
    const action = { name: 'test', fingerprint: 'a'.repeat(64) };
    const request = requestOf('app', [], { action });
    expect(request).toMatchObject({ environmentAction: action });
    expect(request).not.toHaveProperty('timeoutMs');
  });

  it.each([
    ['a worktree that is no segment', { worktree: '../b' }, 'worktree'],
    ['a repository that leads out', { repository: '../b' }, 'repository'],
    ['a folder that leads out', { cwd: '../b' }, 'cwd'],
    ['a folder from the top', { cwd: '/etc' }, 'cwd'],
  ])('refuses %s before anything is sent, naming it', (_, flags, field) => {
    expect(() => requestOf('app', ['true'], flags)).toThrow(field);
  });

  it('refuses a blank command', () => {
    expect(() => requestOf('app', [' '], {})).toThrow('command');
  });
});

describe('chosenWorkspace', () => {
  it('needs a name only where there is a choice', () => {
    expect(chosenWorkspace(undefined, ['app'])).toBe('app');
    expect(chosenWorkspace('b', ['a', 'b'])).toBe('b');
    expect(() => chosenWorkspace(undefined, ['a', 'b'])).toThrow('a, b');
  });
});
