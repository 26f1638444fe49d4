import { createHash } from 'node:crypto';
import type { WaitingReason } from '@codelanes/protocol';

/** Names what a call waits for. Ages are left out: they grow all the time. */
export function waitingMark({ position, lacking, blockers }: WaitingReason): string {
  const told = blockers.map(({ lane, state, callId, operation }) => [lane, state, callId, operation]);
  return createHash('sha256')
    .update(JSON.stringify([position, lacking, told]))
    .digest('hex')
    .slice(0, 16);
}
