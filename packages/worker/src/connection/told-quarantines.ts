import { laneSchema, limits, type QuarantinedLane } from '@codelanes/protocol';
import type { ClosedLane } from './messages.js';

/**
 * Closed lanes as the wire tells them: with ages, as clocks of machines differ. What is no lane of the wire stays
 * untold, as it stays closed all the same.
 */
export function toldQuarantines(closed: readonly ClosedLane[], nowMs: number): QuarantinedLane[] {
  const told = closed.flatMap(({ lane, reason, since }): QuarantinedLane[] => {
    const parsed = laneSchema.safeParse(lane);
    if (!parsed.success) return [];
    const sinceMs = Math.max(0, Math.round(nowMs - since));
    return [{ lane: parsed.data, reason: reason.slice(0, limits.errorMessageLength), sinceMs }];
  });
  return told.slice(0, limits.quarantinedLanes);
}
