import { describe, expect, it } from 'vitest';
import { actionOf } from './action-of.js';

const ofRoot = 'a'.repeat(64);
const ofApi = 'b'.repeat(64);
const workspaces = [
  { id: 'app', environment: { fingerprint: ofRoot, actions: ['test', 'lint'] } },
  {
    id: 'app:api',
    aliasOf: { workspaceId: 'app', repository: 'api' },
    environment: { fingerprint: ofApi, actions: ['test'] },
  },
  { id: 'plain' },
];

describe('actionOf', () => {
  it('finds an action where it is declared, with the fingerprint of that definition', () => {
    expect(actionOf(workspaces, { workspaceId: 'app' }, 'lint')).toEqual({
      name: 'lint',
      fingerprint: ofRoot,
    });
    const inApi = { name: 'test', fingerprint: ofApi };
    expect(actionOf(workspaces, { workspaceId: 'app', repository: 'api' }, 'test')).toEqual(inApi);
    expect(actionOf(workspaces, { workspaceId: 'app:api' }, 'test')).toEqual(inApi);
  });

  it('names those that are there where it is not', () => {
    expect(() => actionOf(workspaces, { workspaceId: 'app', repository: 'api' }, 'lint')).toThrow(
      'There is no action "lint" in app with repository api.',
    );
    for (const workspaceId of ['plain', 'other']) {
      expect(() => actionOf(workspaces, { workspaceId }, 'test')).toThrow('There is no action "test"');
    }
  });
});
