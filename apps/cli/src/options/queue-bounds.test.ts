import { Command } from 'commander';
import { expect, it } from 'vitest';
import { queueBoundsOf, withQueueOptions, type QueueFlags } from './queue-bounds.js';

function boundsOf(...words: readonly string[]) {
  const command = withQueueOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  return queueBoundsOf(command.parse(words, { from: 'user' }).opts<QueueFlags>());
}

it('feed many lanes unless told otherwise: 600 calls in 30 s of one caller, and half of a queue of 1,000', () => {
  expect(boundsOf()).toEqual({
    rateLimit: { calls: 600, windowMs: 30_000 },
    // Half of the queue, where no share is named.
    scheduler: { queueLength: 1_000, principalQueueLength: undefined },
  });
});

it('are each set by a flag', () => {
  expect(boundsOf('--rate-limit', '20', '--queue-length', '40', '--queue-share', '10')).toEqual({
    rateLimit: { calls: 20, windowMs: 30_000 },
    scheduler: { queueLength: 40, principalQueueLength: 10 },
  });
  expect(boundsOf('--rate-limit', '0').rateLimit).toBe('off');
});

it.each(['--queue-length', '--queue-share'])('refuse a queue of none: %s 0', (flag) => {
  expect(() => boundsOf(flag, '0')).toThrow(/whole number from 1 to/);
});
