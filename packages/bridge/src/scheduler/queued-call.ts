import type { Claim, Lane, Pool } from '@codelanes/protocol';

/** All that the rule knows of a call, whether it waits or runs. */
export interface QueuedCall extends Claim {
  readonly id: string;
  readonly lane: Lane;
  readonly pool: Pool;
  /** Who asked: fairness is between principals. */
  readonly principal: string;
  /** Its place: a smaller number is older. Unique within a worker, kept when a call returns to the queue. */
  readonly sequence: number;
}

export function older(one: QueuedCall | undefined, other: QueuedCall | undefined): QueuedCall | undefined {
  if (one === undefined) return other;
  if (other === undefined) return one;
  return one.sequence < other.sequence ? one : other;
}
