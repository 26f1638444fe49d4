import { describe, expect, it } from 'vitest';
import { howToCall, type Served } from './how-to-call.js';

const served: Served = {
  url: 'http://127.0.0.1:4180',
  workspaces: ['app'],
  lanes: { in: 'checkout' },
  connectionFile: '/state/connection.json',
  callerTokenFile: '/state/tokens/caller',
};

describe('howToCall', () => {
  it('shows the commands one beneath the other, and their meanings in one column', () => {
    const commands = howToCall(served)
      .split('\n')
      .filter((line) => line.startsWith('  codelanes '));
    expect(commands).toEqual([
      '  codelanes exec -- git status              a command on the whole checkout',
      '  codelanes exec --worktree a -- npm test   one in the lane of .worktrees/a',
      '  codelanes lanes                           what runs, what waits, and why',
    ]);
  });

  it('names the workspace only where there are several', () => {
    expect(howToCall({ ...served, workspaces: ['app', 'site'] })).toContain(
      'codelanes exec --workspace app --worktree a -- npm test',
    );
  });

  it('shows worktrees where there are some: in a repository, or nowhere', () => {
    const inRepository = howToCall({ ...served, lanes: { in: 'repository', repository: 'api' } });
    expect(inRepository).toContain('codelanes exec --repository api -- git status');
    expect(inRepository).toContain('codelanes exec --repository api --worktree a -- npm test');
    expect(inRepository).toContain('codelanes exec -- ls');
    const nowhere = howToCall({ ...served, lanes: { in: 'none' } });
    expect(nowhere).toContain('codelanes exec -- ls');
    expect(nowhere).not.toMatch(/--worktree|git status/u);
  });

  it('names a state folder that the commands would not find, so that a shell takes it', () => {
    const text = howToCall({ ...served, state: '/my state' });
    expect(text).toContain("codelanes exec --state '/my state' -- git status");
    expect(text).toContain("codelanes lanes --state '/my state'");
  });
});
