import type { BridgeOptions } from '@codelanes/bridge';
import { limits } from '@codelanes/protocol';
import type { Command } from 'commander';
import { wholeNumber } from './numbers.js';

const mostCalls = 1_000_000;

/** How much the callers of a bridge may ask of it. */
export interface QueueFlags {
  readonly rateLimit: number;
  readonly queueLength: number;
  readonly queueShare?: number;
}

export function withQueueOptions(command: Command): Command {
  return command
    .option(
      '--rate-limit <calls>',
      'calls that one caller may send in 30 seconds; 0 for no limit',
      wholeNumber(0, mostCalls),
      600,
    )
    .option(
      '--queue-length <n>',
      'how many calls may wait for a worker',
      wholeNumber(1, mostCalls),
      limits.queueLength,
    )
    .option(
      '--queue-share <n>',
      'how many of these may be of one caller (default: half)',
      wholeNumber(1, mostCalls),
    );
}

/** What these flags mean to a bridge. */
export function queueBoundsOf({
  rateLimit,
  queueLength,
  queueShare,
}: QueueFlags): Pick<BridgeOptions, 'rateLimit' | 'scheduler'> {
  return {
    rateLimit: rateLimit === 0 ? 'off' : { calls: rateLimit, windowMs: 30_000 },
    scheduler: { queueLength, principalQueueLength: queueShare },
  };
}
