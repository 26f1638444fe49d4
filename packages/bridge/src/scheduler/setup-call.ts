import { randomBytes } from 'node:crypto';
import { laneKey, operationKinds, setupRequestOf, type Report } from '@codelanes/protocol';
import type { QueuedCall } from './queued-call.js';
import type { SystemCall } from './stored-call.js';

/**
 * Whose calls those of the system itself are; callers' principals are never called so. They do not count for fairness:
 * who waits for a setup would else pay for the setups of others.
 */
export const systemPrincipal = 'system';

/** Beyond the time of the setup itself: the worker stops what outlives that, and says so. */
const setupGraceMs = 60_000;

export type Unready = Extract<Report, { readonly state: 'unready' }>;

/** Whether a call is the setup of exactly that lane. */
export function isSetupOf(call: QueuedCall, lane: readonly string[]): boolean {
  return call.principal === systemPrincipal && laneKey(call.lane) === laneKey(lane);
}

/** The call that sets a lane up, as a worker asked for it. */
export function newSetupCall(workerId: string, { lane, timeoutMs }: Unready): SystemCall {
  return {
    callId: randomBytes(16).toString('hex'),
    workerId,
    lane,
    ...operationKinds.setup,
    principal: systemPrincipal,
    fingerprint: '',
    executionMs: timeoutMs + setupGraceMs,
    boundMs: timeoutMs,
    request: setupRequestOf(lane),
  };
}
