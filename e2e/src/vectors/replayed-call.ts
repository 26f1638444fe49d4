import type { NewCall, Registration, RegistrationFence } from '@codelanes/bridge';
import type { Capabilities, Settlement, WorkspaceToolRequest } from '@codelanes/protocol';
import type { SchedulingTrace, SubmitStep } from './scheduling-trace.js';

/*
 * What a trace leaves out because the rule does not look at it: the worker's identity and capabilities, the
 * bodies of requests and results.
 */

export const replayedWorker: RegistrationFence = {
  workerId: 'replay',
  incarnationId: '1'.repeat(32),
  registrationId: '2'.repeat(32),
};

const capabilities: Capabilities = {
  statefulWorkspace: true,
  sandboxProfile: 'none',
  runtimes: ['bash'],
  sharedReads: true,
  workspaceTools: {
    protocolVersion: 1,
    operations: ['execute_command', 'read_file'],
    workspaces: [{ id: 'primary' }],
  },
};

export function registration(
  slots: number,
  filePool: number,
  capacities: SchedulingTrace['capacities'],
): Registration {
  return {
    ...replayedWorker,
    journalId: '2'.repeat(32),
    capabilities,
    slots,
    filePool,
    capacities: capacities.map(([lane, commands]) => ({ lane, commands })),
    holds: [],
    takeOver: false,
  };
}

/** The call of a step; `index` makes its id. */
export function newCall(step: SubmitStep, index: number): NewCall {
  const { id, lane, mode, pool, caller } = step;
  return {
    callId: index.toString(16).padStart(32, '0'),
    workerId: replayedWorker.workerId,
    lane,
    mode,
    pool,
    principal: caller,
    fingerprint: id,
    executionMs: 1_000,
    request: requestOf(pool, lane[0]),
  };
}

function requestOf(pool: SubmitStep['pool'], workspaceId: string): WorkspaceToolRequest {
  const envelope = { protocolVersion: 1 as const, workspaceId };
  return pool === 'command'
    ? { ...envelope, operation: 'execute_command', command: 'true' }
    : { ...envelope, operation: 'read_file', path: 'README.md' };
}

export function resultOf(): Settlement {
  return { status: 'rejected', error: { code: 'NOT_FOUND', message: 'A replay has no files.' } };
}
