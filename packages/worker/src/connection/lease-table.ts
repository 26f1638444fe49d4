import { uptime } from 'node:os';
import type { Assignment, HeldCall, Lease } from '@codelanes/protocol';
import type { ProcessIdentity } from '../lanes/processes.js';

/**
 * Milliseconds that never stand still: the monotonic clock stops while a machine is suspended, the boot clock
 * does not, and a lease must end by the later of the two.
 */
export function leaseClock(): number {
  return Math.max(performance.now() - monotonicAtStart, (uptime() - uptimeAtStart) * 1000);
}
const monotonicAtStart = performance.now();
const uptimeAtStart = uptime();

interface HeldLease {
  readonly call: HeldCall;
  /** By the lease clock: counted from the sending of the last accepted renewal. */
  endsAt: number;
  /** By the same clock: no renewal reaches further. */
  readonly endsBy: number;
  init: ProcessIdentity | undefined;
  /** Its script waits for tools, and the bridge is being told so: nothing of it may be killed for this lease's sake. */
  isGivenUp: boolean;
}

/** What of an assignment the worker says that it holds. */
export function heldCallOf(
  { callId, generation, token, lane, mode, request }: Assignment,
  pool: HeldCall['pool'],
): HeldCall {
  const held = { callId, generation, token, lane, mode, pool };
  return request.operation === 'setup' ? { ...held, operation: 'setup' } : held;
}

/** The leases that this worker holds, and until when it may rely on each. */
export class LeaseTable {
  readonly #leases = new Map<string, HeldLease>();
  readonly #now: () => number;

  constructor(now: () => number = leaseClock) {
    this.#now = now;
  }

  /** @param endsBy Until when renewals may keep it; for ever by default. */
  hold(call: HeldCall, endsAt: number, endsBy = Infinity): void {
    this.#leases.set(call.callId, { call, endsAt, endsBy, init: undefined, isGivenUp: false });
  }

  started(callId: string, init: ProcessIdentity): void {
    const held = this.#leases.get(callId);
    if (held !== undefined) held.init = init;
  }

  /** The lease is kept, until the bridge has answered, but nothing runs under it any more. */
  giveUp({ callId, token }: Lease): void {
    const held = this.#leases.get(callId);
    if (held?.call.token !== token) return;
    held.init = undefined;
    held.isGivenUp = true;
  }

  /** With a token only that very lease: a call that was paused may have gone on under another meanwhile. */
  drop(callId: string, token?: string): HeldLease | undefined {
    const held = this.#leases.get(callId);
    if (token !== undefined && held?.call.token !== token) return undefined;
    this.#leases.delete(callId);
    return held;
  }

  has(callId: string): boolean {
    return this.#leases.has(callId);
  }

  get held(): HeldCall[] {
    return [...this.#leases.values()].map(({ call }) => call);
  }

  get leases(): Lease[] {
    return this.held.map(({ callId, generation, token }) => ({ callId, generation, token }));
  }

  /** An accepted renewal counts from its sending, and never shortens a lease nor keeps it for longer than it may last. */
  renewed(leases: readonly Lease[], sentAt: number, ttlMs: number): void {
    for (const { callId, token } of leases) {
      const held = this.#leases.get(callId);
      if (held?.call.token !== token) continue;
      held.endsAt = Math.max(held.endsAt, Math.min(sentAt + ttlMs, held.endsBy));
    }
  }

  /** Takes out the calls whose lease ends within the margin. */
  takeEnding(marginMs: number): { callId: string; init: ProcessIdentity | undefined }[] {
    const now = this.#now();
    const ending = [...this.#leases.values()].filter(({ endsAt }) => endsAt - marginMs <= now);
    for (const { call } of ending) this.#leases.delete(call.callId);
    return ending.map(({ call, init }) => ({ callId: call.callId, init }));
  }

  /** Milliseconds until the first lease comes within the margin of its end, or `undefined` without leases. */
  nextEndIn(marginMs: number): number | undefined {
    if (this.#leases.size === 0) return undefined;
    const first = Math.min(...[...this.#leases.values()].map(({ endsAt }) => endsAt));
    return Math.max(0, first - marginMs - this.#now());
  }
}
