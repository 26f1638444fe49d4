import { callsConflict, laneKeysFromRoot, type Claim, type Lane, type Pool } from '@codelanes/protocol';

/** A call as the worker's own judgement sees it; `none` is a digest-fenced read of instructions. */
export interface HeldCall extends Claim {
  readonly callId: string;
  readonly lane: Lane;
  readonly pool: Pool | 'none';
}

export type Judgement = 'accepted' | 'busy' | 'quarantined';

export interface HoldLimits {
  /** Commands at once. */
  readonly slots: number;
  /** File tools at once. */
  readonly filePool: number;
  /** Commands at once in and beneath the lane with this key, where the operator set a number. */
  readonly capacityOf?: ((laneKey: string) => number | undefined) | undefined;
}

/**
 * The worker as the last judge: whatever a bridge hands out, no two conflicting calls, no more than the pools
 * and no more than a lane's capacity are ever held here.
 */
export class Holds {
  readonly #limits: HoldLimits;
  readonly #isQuarantined: (lane: Lane) => boolean;
  readonly #held = new Map<string, HeldCall>();

  constructor(limits: HoldLimits, isQuarantined: (lane: Lane) => boolean) {
    this.#limits = limits;
    this.#isQuarantined = isQuarantined;
  }

  /** Whether a call could be held now. One that is held already is `busy`. */
  judge(call: HeldCall): Judgement {
    if (this.#held.has(call.callId)) return 'busy';
    if (call.pool === 'none') return 'accepted';
    if (this.#isQuarantined(call.lane)) return 'quarantined';
    return this.#hasRoom(call) && !this.#conflicts(call) ? 'accepted' : 'busy';
  }

  /** Judges and, where accepted, holds in one step. */
  hold(call: HeldCall): Judgement {
    const judgement = this.judge(call);
    if (judgement === 'accepted') this.#held.set(call.callId, call);
    return judgement;
  }

  /** Only when nothing of the call runs any more. `false` where it was not held. */
  release(callId: string): boolean {
    return this.#held.delete(callId);
  }

  has(callId: string): boolean {
    return this.#held.has(callId);
  }

  listHeld(): HeldCall[] {
    return [...this.#held.values()];
  }

  #conflicts(call: HeldCall): boolean {
    return this.listHeld().some((held) => held.pool !== 'none' && callsConflict(held, call));
  }

  #hasRoom(call: HeldCall): boolean {
    const inPool = this.listHeld().filter(({ pool }) => pool === call.pool);
    if (call.pool === 'file') return inPool.length < this.#limits.filePool;
    if (inPool.length >= this.#limits.slots) return false;
    return laneKeysFromRoot(call.lane).every((key) => {
      const capacity = this.#limits.capacityOf?.(key);
      if (capacity === undefined) return true;
      return inPool.filter(({ lane }) => laneKeysFromRoot(lane).includes(key)).length < capacity;
    });
  }
}
