import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from './messages.js';

/**
 * The pause before a request is tried again: twice as long after every further failure, up to a bound, and never quite
 * as long as that of another worker. Over at once when the signal is aborted.
 */
export async function backOff(
  { retryMinMs, retryMaxMs }: Pick<ConnectionOptions['clocks'], 'retryMinMs' | 'retryMaxMs'>,
  failures: number,
  signal: AbortSignal,
): Promise<void> {
  const bound = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(failures, 16));
  await sleep(bound * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
}
