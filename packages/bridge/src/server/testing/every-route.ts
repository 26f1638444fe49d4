import { commandBody } from './requests.js';
import type { TokenName } from './test-bridge.js';
import { testCapabilities } from './test-worker.js';

/** A request of a route. */
interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Absent where a route asks for no token. */
  readonly as?: TokenName;
  /** A body that the route takes, to be spoilt. */
  readonly body?: object;
  /** Bridges that keep everything in memory refuse these unread. */
  readonly isDurable?: true;
}

const fence = { version: 1, incarnationId: 'a'.repeat(32) };
const lease = { callId: 'b'.repeat(32), generation: 1, token: 'c'.repeat(64) };

const scriptBody = {
  lang: 'bash',
  code: 'true',
  tools: [{ name: 'web-search' }],
  files: [{ name: 'a.txt', content: 'a' }],
  timeout: 1_000,
};

const redeemBody = { protocolVersion: 1, code: 'f'.repeat(32), workerId: 'fuzzed', publicKey: 'a key' };

const durable = '/v1/workspace-tools/requests';
const lane = '/v1/workspaces/primary/lanes/fuzzed';

/** One request of each route of a bridge, with ids `fuzzed` that can be exchanged. */
export const everyRoute: readonly Route[] = [
  { method: 'GET', path: '/healthz' },
  { method: 'GET', path: '/readyz' },
  { method: 'GET', path: '/metrics', as: 'admin' },
  { method: 'GET', path: '/v1/bridge/workers', as: 'admin' },
  { method: 'GET', path: '/v1/bridge/workers/fuzzed/status', as: 'caller' },
  { method: 'GET', path: '/v1/bridge/workers/fuzzed/lanes', as: 'admin' },
  { method: 'POST', path: `/v1/bridge/calls/${'b'.repeat(32)}/cancel`, as: 'admin', body: {} },
  { method: 'GET', path: `/v1/calls/${'b'.repeat(32)}?waitMs=0`, as: 'caller' },
  { method: 'POST', path: '/v1/bridge/pairings', as: 'admin', body: { workerId: 'fuzzed' } },
  { method: 'POST', path: '/v1/bridge/pairings/redeem', body: redeemBody },
  { method: 'POST', path: '/v1/bridge/workers/fuzzed/revoke', as: 'admin', body: {} },
  {
    method: 'POST',
    path: '/v1/bridge/workers/fuzzed/credentials/refresh',
    as: 'worker',
    body: { protocolVersion: 1 },
  },
  { method: 'POST', path: '/v1/workspace-tools/execute', as: 'caller', body: commandBody() },
  { method: 'POST', path: '/v1/exec/programmatic', as: 'caller', body: scriptBody },
  {
    method: 'POST',
    path: `${lane}/exec/programmatic`,
    as: 'caller',
    body: { continuation_token: 'tok_1', tool_results: [{ call_id: 'call_001', result: 1 }] },
  },
  { method: 'POST', path: '/v1/exec/programmatic/cancel', as: 'caller', body: { request_id: 'r1' } },
  { method: 'POST', path: `${lane}/exec/programmatic/cancel`, as: 'caller', body: { request_id: 'r1' } },
  { method: 'POST', path: '/v1/exec', as: 'caller', body: scriptBody },
  { method: 'POST', path: `${lane}/exec`, as: 'caller', body: scriptBody },
  { method: 'GET', path: '/v1/workspace-tools/capabilities', as: 'caller' },
  { method: 'POST', path: durable, as: 'caller', body: commandBody(), isDurable: true },
  { method: 'GET', path: `${durable}/fuzzed-fuzzed-fuzzed`, as: 'caller', isDurable: true },
  { method: 'DELETE', path: `${durable}/fuzzed-fuzzed-fuzzed`, as: 'caller', isDurable: true },
  {
    method: 'POST',
    path: '/v1/workers/fuzzed/register',
    as: 'worker',
    body: {
      ...fence,
      registrationId: 'e'.repeat(32),
      workerId: 'fuzzed',
      journalId: 'd'.repeat(32),
      capabilities: testCapabilities(),
      slots: 1,
      holds: [{ ...lease, lane: ['primary'], mode: 'exclusive', pool: 'command' }],
      takeOver: true,
    },
  },
  {
    method: 'POST',
    path: '/v1/workers/fuzzed/poll',
    as: 'worker',
    body: { ...fence, registrationId: 'e'.repeat(32), waitMs: 0 },
  },
  {
    method: 'POST',
    path: '/v1/workers/fuzzed/report',
    as: 'worker',
    body: { ...fence, reports: [{ ...lease, state: 'started' }, { state: 'freed' }] },
  },
  { method: 'POST', path: '/v1/workers/fuzzed/renew', as: 'worker', body: { ...fence, leases: [lease] } },
  {
    method: 'POST',
    path: '/v1/workers/fuzzed/settle',
    as: 'worker',
    body: {
      ...fence,
      lease,
      settlement: { status: 'rejected', error: { code: 'INVALID_REQUEST', message: 'no' } },
    },
  },
];
