import type { Assignment, HeldCall, Lease, RegisterReply } from '@codelanes/protocol';
import type { ProcessIdentity, ProcessTable } from '../lanes/processes.js';
import { heldCallOf, leaseClock, LeaseTable } from './lease-table.js';

/** For how long the bridge grants leases, and how often it wants to hear of them; milliseconds. */
export type LeaseTerms = Pick<RegisterReply, 'leaseTtlMs' | 'renewEveryMs'>;

/**
 * A call that has not ended so long after its running time hangs with its worker, in milliseconds; all that belongs to
 * a call that goes its way takes seconds.
 */
const overdueMs = 600_000;

export interface LeaseKeeperOptions {
  /** How long before a lease's end its call must be dead. */
  readonly marginMs: number;
  readonly processes: Pick<ProcessTable, 'kill'>;
  /** Asks the bridge for more time; resolves with the calls whose lease is lost, or with nothing where it gave none. */
  readonly renew: (leases: readonly Lease[]) => Promise<readonly string[] | undefined>;
  /** Told of each call whose lease is over; what ran under it has been killed. */
  readonly onLost: (callId: string) => void;
}

/**
 * The leases of one worker: renewed in time, and given up, with what runs under them, before they end. None is renewed
 * for ever: this goes on in a thread of its own, also where nobody sees to the calls any more.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #table = new LeaseTable();
  #terms: LeaseTerms = { leaseTtlMs: 0, renewEveryMs: 0 };
  #renewTimer: NodeJS.Timeout | undefined;
  #endTimer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  get held(): HeldCall[] {
    return this.#table.held;
  }

  has(callId: string): boolean {
    return this.#table.has(callId);
  }

  /** The bridge knows of all that is held, as of that moment by `leaseClock`, and has said its terms. */
  registered(terms: LeaseTerms, sentAt: number): void {
    this.#terms = terms;
    this.#table.renewed(this.#table.leases, sentAt, terms.leaseTtlMs);
    this.#watch();
  }

  /** @param leasedAt by `leaseClock`; their leases began no earlier. */
  hold(assignments: readonly Assignment[], leasedAt: number): void {
    for (const assignment of assignments) {
      if (assignment.pool === 'none') continue;
      const endsAt = leasedAt + this.#terms.leaseTtlMs;
      const endsBy = leasedAt + assignment.executionMs + overdueMs;
      this.#table.hold(heldCallOf(assignment, assignment.pool), endsAt, endsBy);
    }
    if (assignments.length > 0) this.#watch();
  }

  /** A call's process runs from here on; `false` where its lease has ended since: then that was killed. */
  started({ callId }: Lease, init: ProcessIdentity): boolean {
    if (!this.#table.has(callId)) {
      this.#kill(callId, init);
      return false;
    }
    this.#table.started(callId, init);
    return true;
  }

  /** What the call left is nobody's to kill when this lease ends. */
  giveUp(lease: Lease): void {
    this.#table.giveUp(lease);
  }

  /** The call is over; a later lease of it, by its token another, stays. */
  drop(callId: string, token?: string): void {
    if (this.#table.drop(callId, token) !== undefined) this.#watch();
  }

  /** The lease is another's; a later lease of the call, by its token another, stays. */
  lose(callId: string, token: string): void {
    const held = this.#table.drop(callId, token);
    if (held !== undefined && !held.isGivenUp) this.#kill(callId, held.init);
  }

  /** Nothing is renewed or ended any more. */
  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#renewTimer);
    clearTimeout(this.#endTimer);
  }

  /** Sets both timers anew: the next renewal, and the moment at which the first lease must be given up. */
  #watch(): void {
    if (this.#isOver) return;
    clearTimeout(this.#endTimer);
    const { marginMs } = this.#options;
    const endIn = this.#table.nextEndIn(marginMs);
    if (endIn === undefined) {
      clearTimeout(this.#renewTimer);
      this.#renewTimer = undefined;
      return;
    }
    this.#endTimer = setTimeout(() => {
      for (const { callId, init } of this.#table.takeEnding(marginMs)) this.#kill(callId, init);
      this.#watch();
    }, endIn);
    this.#renewTimer ??= setTimeout(() => void this.#renew(), this.#terms.renewEveryMs);
  }

  async #renew(): Promise<void> {
    this.#renewTimer = undefined;
    const { leases } = this.#table;
    const sentAt = leaseClock();
    const lost = leases.length === 0 ? undefined : await this.#options.renew(leases);
    if (lost !== undefined) {
      const kept = leases.filter(({ callId }) => !lost.includes(callId));
      this.#table.renewed(kept, sentAt, this.#terms.leaseTtlMs);
      // The call may go on under another lease by now.
      for (const { callId, token } of leases) if (lost.includes(callId)) this.lose(callId, token);
    }
    this.#watch();
  }

  #kill(callId: string, init: ProcessIdentity | undefined): void {
    if (init !== undefined) this.#options.processes.kill(init);
    this.#options.onLost(callId);
  }
}
