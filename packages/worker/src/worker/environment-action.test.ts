import type { Assignment, Capabilities } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import type { ActionsOfDefinition } from '../environment/roots.js';
import { withAction } from './environment-action.js';
import { capabilitiesOf } from './offer.js';

const definition: ActionsOfDefinition = {
  fingerprint: 'a'.repeat(64),
  actions: [{ name: 'test', command: 'npm test', timeoutMs: 60_000 }],
};
const offered = (declared = definition, commands = true): Capabilities =>
  capabilitiesOf([{ id: 'primary', hasLanes: true, definition: declared, repositories: [] }], commands);

const call = (fields: object, executionMs = 300_000): Assignment => ({
  callId: 'c'.repeat(32),
  generation: 1,
  token: 'f'.repeat(64),
  lane: ['primary', 'worktree:a'],
  mode: 'exclusive',
  pool: 'command',
  executionMs,
  request: {
    protocolVersion: 1,
    operation: 'execute_command',
    workspaceId: 'primary',
    worktree: 'a',
    command: 'rm -rf .',
    maxOutputBytes: 1000,
    ...fields,
  },
});
const asked = { environmentAction: { name: 'test', fingerprint: definition.fingerprint } };

describe('a call that asks for an action', () => {
  it('[E2] runs the command of the definition in its own lane, whatever command came along', () => {
    const { request, lane } = withAction(call({ ...asked, cwd: '.' }), offered(), { definition });
    expect(request).toEqual({
      protocolVersion: 1,
      operation: 'execute_command',
      workspaceId: 'primary',
      worktree: 'a',
      command: 'npm test',
      maxOutputBytes: 1000,
    });
    expect(lane).toEqual(['primary', 'worktree:a']);
  });

  it('[E2] has the shorter of its own time and that of the call', () => {
    const timeOf = (executionMs: number) =>
      withAction(call(asked, executionMs), offered(), { definition }).executionMs;
    expect(timeOf(300_000)).toBe(60_000);
    expect(timeOf(1_000)).toBe(1_000);
  });

  it('[E2] is refused where the definition has changed since it was taken in, and at a worker without commands', () => {
    const changed = { ...definition, fingerprint: 'b'.repeat(64) };
    const refused: unknown = expect.objectContaining({ code: 'INVALID_REQUEST' });
    expect(() => withAction(call(asked), offered(changed), { definition: changed })).toThrow(refused);
    expect(() => withAction(call(asked), offered(definition, false), { definition })).toThrow(refused);
    expect(() => withAction(call({ ...asked, cwd: 'src' }), offered(), { definition })).toThrow(refused);
  });

  it('is the only call that is changed', () => {
    const plain = call({});
    expect(withAction(plain, offered(), { definition })).toBe(plain);
  });
});
