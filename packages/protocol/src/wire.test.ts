import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capabilities } from './testing/capabilities.js';
import {
  assignmentSchema,
  pollReplySchema,
  pollRequestSchema,
  registerReplySchema,
  registerRequestSchema,
  renewReplySchema,
  renewRequestSchema,
  reportReplySchema,
  reportRequestSchema,
  settleReplySchema,
  settleRequestSchema,
  settlementSchema,
} from './wire.js';

const callId = 'c'.repeat(32);
const lease = { callId, generation: 1, token: 'f'.repeat(64) };
const incarnation = { version: 1, incarnationId: '0'.repeat(32) };
const held = { ...lease, lane: ['primary', 'worktree:a'], mode: 'exclusive', pool: 'command' };
const request = { protocolVersion: 1, workspaceId: 'primary', operation: 'list_files', worktree: 'a' };
const assignment = { ...held, mode: 'shared', pool: 'file', executionMs: 1, request };
const registrationId = '2'.repeat(32);
const register = {
  ...incarnation,
  registrationId,
  workerId: 'w',
  journalId: '1'.repeat(32),
  capabilities: capabilities(),
  slots: 2,
  holds: [held],
  takeOver: false,
};

const poll = { ...incarnation, registrationId, waitMs: 25_000 };

const messages = [
  { name: 'registration', schema: registerRequestSchema, message: register },
  { name: 'assignment', schema: assignmentSchema, message: assignment },
  { name: 'poll', schema: pollRequestSchema, message: poll },
  { name: 'renewal', schema: renewRequestSchema, message: { ...incarnation, leases: [lease] } },
  {
    name: 'report',
    schema: reportRequestSchema,
    message: { ...incarnation, reports: [{ ...lease, state: 'started' }, { state: 'freed' }] },
  },
];

describe('the wire of a worker', () => {
  it.each(messages)('has a $name of one version and a closed key set', ({ schema, message }) => {
    expect(schema.safeParse(message).error).toBeUndefined();
    expect(schema.safeParse({ ...message, extra: 1 }).success).toBe(false);
    expect(schema.safeParse({ ...message, generation: 0, incarnationId: 'x', version: 2 }).success).toBe(
      false,
    );
  });

  it('[L4] carries the lane of a call as segments of known kinds', () => {
    expect(assignmentSchema.safeParse({ ...assignment, lane: ['primary', 'a'] }).success).toBe(false);
    expect(assignmentSchema.safeParse({ ...assignment, lane: [] }).success).toBe(false);
  });

  it('asks for the setup of a lane that a request can name, for an hour at most', () => {
    const accepts = (changes: object) => {
      const unready = {
        state: 'unready',
        lane: ['primary', 'repo:libs/ui', 'worktree:a'],
        timeoutMs: 3_600_000,
      };
      return reportRequestSchema.safeParse({ ...incarnation, reports: [{ ...unready, ...changes }] }).success;
    };
    expect(accepts({})).toBe(true);
    expect(accepts({ lane: ['primary'] })).toBe(true);
    expect(accepts({ timeoutMs: 3_600_001 })).toBe(false);
    expect(accepts({ lane: ['primary', 'repo:../x'] })).toBe(false);
    expect(accepts({ lane: ['primary', 'worktree:a.lock'] })).toBe(false);
    expect(accepts({ lane: ['primary@no-instance'] })).toBe(false);
  });

  it('carries a setup of the system, and how it ended', () => {
    const setup = { protocolVersion: 1, operation: 'setup', workspaceId: 'primary', worktree: 'a' };
    expect(assignmentSchema.safeParse({ ...assignment, pool: 'command', request: setup }).success).toBe(true);
    const settled = (result: object) =>
      settlementSchema.safeParse({ status: 'fulfilled', result: { protocolVersion: 1, ...result } }).success;
    expect(settled({ operation: 'setup', state: 'failed' })).toBe(true);
    expect(settled({ operation: 'setup', state: 'running' })).toBe(false);
  });

  it('waits at most 25 s for work', () => {
    expect(pollRequestSchema.safeParse({ ...poll, waitMs: 25_001 }).success).toBe(false);
    expect(pollRequestSchema.safeParse({ ...poll, waitMs: -1 }).success).toBe(false);
  });

  it('never makes a schema throw on random JSON', () => {
    const schemas = [
      ...messages.map(({ schema }) => schema),
      pollReplySchema,
      registerReplySchema,
      renewReplySchema,
      reportReplySchema,
      settleReplySchema,
      settleRequestSchema,
    ];
    const mutated = fc
      .tuple(fc.constantFrom(...messages), fc.nat(), fc.jsonValue())
      .map(([{ message }, which, value]) => {
        const keys = Object.keys(message);
        return { ...message, [keys[which % keys.length] ?? 'version']: value };
      });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), mutated), (value) => {
        for (const schema of schemas) expect(typeof schema.safeParse(value).success).toBe('boolean');
      }),
      { numRuns: 300 },
    );
  });
});
