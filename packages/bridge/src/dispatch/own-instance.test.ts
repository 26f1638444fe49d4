import { describe, expect, it } from 'vitest';
import { laneOf } from '@codelanes/protocol';
import { newCallOf } from './new-call.js';
import { testCapabilities } from '../server/testing/test-worker.js';
import { ownInstanceId } from './own-instance.js';

const id = 'a'.repeat(64);

describe('the id of an instance', () => {
  it('means another instance for each caller, the same one for the same caller, and never the id that was sent', () => {
    expect(ownInstanceId('ann', id)).toBe(ownInstanceId('ann', id));
    expect(ownInstanceId('ann', id)).toMatch(/^[0-9a-f]{64}$/);
    const others = [ownInstanceId('bob', id), ownInstanceId('ann', 'b'.repeat(64)), id];
    expect(others).not.toContain(ownInstanceId('ann', id));
    // Who learns what a worker calls another one's instance cannot name it either.
    expect(ownInstanceId('bob', ownInstanceId('ann', id))).not.toBe(ownInstanceId('ann', id));
  });

  it('is the own one in the lane of a call and in what its worker is told', () => {
    const call = newCallOf(
      { protocolVersion: 1, operation: 'list_files', workspaceId: 'primary', workspaceInstanceId: id },
      { workerId: 'w', principal: 'ann', capabilities: testCapabilities() },
    );
    const own = ownInstanceId('ann', id);
    expect(call.request).toMatchObject({ workspaceInstanceId: own });
    expect(call.lane).toEqual(laneOf({ workspaceId: 'primary', workspaceInstanceId: own }));
  });
});
