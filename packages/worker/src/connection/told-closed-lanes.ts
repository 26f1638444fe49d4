import { laneSchema, limits, type ClosedLane } from '@codelanes/protocol';
import type { ClosedSince } from './messages.js';

/**
 * Closed lanes as the wire tells them: with ages, as clocks of machines differ. What is no lane of the wire stays
 * untold, as it stays closed all the same.
 */
export function toldClosedLanes(closed: readonly ClosedSince[], nowMs: number): ClosedLane[] {
  const told = closed.flatMap(({ lane, cause, reason, since }): ClosedLane[] => {
    const parsed = laneSchema.safeParse(lane);
    if (!parsed.success) return [];
    const sinceMs = Math.max(0, Math.round(nowMs - since));
    return [{ lane: parsed.data, cause, reason: reason.slice(0, limits.errorMessageLength), sinceMs }];
  });
  return told.slice(0, limits.closedLanes);
}
