import { describe, expect, it } from 'vitest';
import { laneKeysFromRoot, workspaceToolRequestSchema } from '@codelanes/protocol';
import { testCapabilities } from '../server/testing/test-worker.js';
import { newCallOf } from './new-call.js';

const capabilities = testCapabilities();

function callOf(fields: object, sharedReads = true) {
  const body = { protocolVersion: 1, workspaceId: 'primary', ...fields };
  const terms = { workerId: 'w', principal: 'p', capabilities: { ...capabilities, sharedReads } };
  return newCallOf(workspaceToolRequestSchema.parse(body), terms);
}

const read = { operation: 'read_file', path: 'AGENTS.md' };
const command = { operation: 'execute_command', command: 'true' };

describe('a new call', () => {
  it('[L4] has its lane before it is admitted, with the root as parent', () => {
    const { lane } = callOf({ ...command, worktree: 'a' });
    expect(laneKeysFromRoot(lane)).toEqual(['primary', 'primary/worktree%3Aa']);
  });

  it.each([
    [read, { mode: 'shared', pool: 'file', executionMs: 30_000 }],
    [
      { operation: 'search_text', query: 'x' },
      { mode: 'shared', pool: 'file', executionMs: 30_000 },
    ],
    [{ operation: 'list_files' }, { mode: 'shared', pool: 'file', executionMs: 30_000 }],
    [
      { operation: 'write_file', path: 'a', content: '' },
      { mode: 'exclusive', pool: 'file', executionMs: 30_000 },
    ],
    [command, { mode: 'exclusive', pool: 'command', executionMs: 30_000 }],
    [
      { ...command, timeoutMs: 300_000 },
      { mode: 'exclusive', pool: 'command', executionMs: 300_000 },
    ],
    // The worker, which knows the action, holds it to its own time.
    [
      { ...command, environmentAction: { name: 'test', fingerprint: 'a'.repeat(64) } },
      { mode: 'exclusive', pool: 'command', executionMs: 300_000 },
    ],
  ])('has mode, pool and budget of its operation: %o', (fields, expected) => {
    expect(callOf(fields)).toMatchObject(expected);
  });

  it('reads exclusively where the worker does not advertise shared reads', () => {
    expect(callOf(read, false)).toMatchObject({ mode: 'exclusive', pool: 'file' });
  });

  it('takes no pool where it reads instructions by digest', () => {
    expect(callOf({ ...read, instructionSha256: 'a'.repeat(64) }).pool).toBe('none');
  });

  it('has 128 random bits for an id, unless its caller proposed one', () => {
    const ids = [callOf(command).callId, callOf(command).callId];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });
});
