import { expect, it } from 'vitest';
import { WaitingCalls } from './waiting-calls.js';

const fault = (reason: string) => ({
  version: 1 as const,
  lane: ['primary', 'repo:api', 'worktree:a'],
  worktree: '1:2 1:3 4',
  setup: 'f'.repeat(64),
  call: 'c'.repeat(32),
  startedAt: 1,
  endedAt: 2,
  state: 'faulted' as const,
  reason,
});

it('tells a run that could not begin to each call that waited for it, once, and to no other', () => {
  const calls = new WaitingCalls();
  for (const call of ['1', '2']) expect(calls.reached('a', call)).toBeUndefined();
  expect(calls.reached('b', '3')).toBeUndefined();
  const full = fault('The disk is full.');
  calls.faulted('a', full);
  expect(calls.reached('a', '1')).toBe(full);
  expect(calls.reached('a', '1')).toBeUndefined();
  expect(calls.reached('a', '4')).toBeUndefined();
  expect(calls.reached('b', '3')).toBeUndefined();
});

it('tells whoever still waits after the next try of that one', () => {
  const calls = new WaitingCalls();
  for (const call of ['1', '2']) calls.reached('a', call);
  calls.faulted('a', fault('The disk is full.'));
  calls.reached('a', '1');
  calls.reached('a', '1');
  const later = fault('There is no memory left.');
  calls.faulted('a', later);
  expect([calls.reached('a', '1'), calls.reached('a', '2')]).toEqual([later, later]);
});

it('tells nothing once a run has come to an end of its own', () => {
  const calls = new WaitingCalls();
  calls.reached('a', '1');
  calls.faulted('a', fault('The disk is full.'));
  calls.ended('a');
  expect(calls.reached('a', '1')).toBeUndefined();
});
