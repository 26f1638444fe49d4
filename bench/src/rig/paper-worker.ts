import { randomBytes } from 'node:crypto';
import type { NewCall, Registration, RegistrationFence } from '@codelanes/bridge';
import type { Lane, Settlement } from '@codelanes/protocol';

/** A worker that exists at a store only: rows that measure the store alone speak for it. */
export const worker: RegistrationFence = {
  workerId: 'worker',
  incarnationId: '1'.repeat(32),
  registrationId: '2'.repeat(32),
};

export function registration(slots: number): Registration {
  return {
    ...worker,
    journalId: 'a'.repeat(32),
    capabilities: {
      statefulWorkspace: true,
      sandboxProfile: 'none',
      runtimes: ['bash'],
      sharedReads: true,
      workspaceTools: {
        protocolVersion: 1,
        operations: ['execute_command'],
        workspaces: [{ id: 'primary' }],
      },
    },
    slots,
    filePool: 16,
    capacities: [],
    holds: [],
    takeOver: false,
  };
}

/** What it answers to everything. */
export const settlement: Settlement = {
  status: 'rejected',
  error: { code: 'NOT_FOUND', message: 'There is no such file.' },
};

/** One command in a lane, under an id that nobody else has. */
export function newCall(lane: Lane, principal: string): NewCall {
  return {
    callId: randomBytes(16).toString('hex'),
    workerId: worker.workerId,
    lane,
    mode: 'exclusive',
    pool: 'command',
    principal,
    fingerprint: 'f'.repeat(64),
    executionMs: 1_000,
    request: { protocolVersion: 1, workspaceId: 'primary', operation: 'execute_command', command: 'true' },
  };
}
