import { randomBytes } from 'node:crypto';
import type { Assignment, Lease, RegisterReply } from '@codelanes/protocol';
import { hostProcesses } from '../lanes/processes.js';
import type { ProcessIdentity, ProcessTable } from '../lanes/processes.js';
import { accessOf } from './access.js';
import { backOff } from './back-off.js';
import { BridgeClient, BridgeRefusal } from './bridge-client.js';
import { LeaseKeeper } from './lease-keeper.js';
import { leaseClock } from './lease-table.js';
import type { ClosedSince, ConnectionOptions, FromConnection, ToConnection } from './messages.js';
import { Outbox, type SettledCall } from './outbox.js';
import { toldClosedLanes } from './told-closed-lanes.js';

/**
 * One incarnation's conversation with the bridge: registers, holds one open poll, renews leases, repeats
 * reports and settlements until they are answered, and kills what runs under a lease that ends. It knows
 * nothing of lanes or tools, so that it can live in a thread that no tool work blocks.
 */
export class Session {
  readonly #options: ConnectionOptions;
  readonly #emit: (message: FromConnection) => void;
  readonly #client: BridgeClient;
  readonly #leases: LeaseKeeper;
  /** Calls whose pause the bridge has taken, and that do not go on yet. */
  readonly #paused = new Set<string>();
  readonly #outbox: Outbox;
  #registration: (RegisterReply & { readonly registrationId: string }) | undefined;
  #takeOver: boolean;
  #wasDisplaced = false;
  #closed: readonly ClosedSince[] = [];
  #polling: AbortController | undefined;
  #draining = false;
  readonly #ended = new AbortController();
  #wake: (() => void) | undefined;

  constructor(
    options: ConnectionOptions,
    emit: (message: FromConnection) => void,
    processes: Pick<ProcessTable, 'kill'> = hostProcesses,
  ) {
    this.#options = options;
    this.#emit = emit;
    this.#takeOver = options.takeOver;
    const { bridgeUrl, workerId, access, authority, clocks } = options;
    const { requestMs, leaseMarginMs: marginMs } = clocks;
    this.#client = new BridgeClient({ bridgeUrl, workerId, access: accessOf(access), authority, requestMs });
    this.#leases = new LeaseKeeper({
      marginMs,
      processes,
      renew: (leases) => this.#renew(leases),
      onLost: (callId) => {
        this.#emit({ kind: 'lost', callId });
      },
    });
    this.#outbox = new Outbox(
      { send: (request, worthwhile) => this.#send(request, worthwhile) },
      options.incarnationId,
    );
  }

  /** Serves until it is closed or refused for good. */
  async run(): Promise<void> {
    let failures = 0;
    while (!this.#isOver()) {
      try {
        if (this.#registration === undefined) await this.#register();
        if (this.#draining) await this.#untilWoken();
        else await this.#poll();
        failures = 0;
      } catch (error) {
        this.#registration = undefined;
        if (this.#isOver() || this.#endIfFinal(error)) break;
        const kind = error instanceof BridgeRefusal ? 'put_off' : 'unreachable';
        this.#emit({ kind, message: describe(error) });
        await backOff(this.#options.clocks, failures, this.#ended.signal);
        failures += 1;
      }
    }
  }

  accept(message: ToConnection): void {
    switch (message.kind) {
      case 'started':
        this.#started(message.lease, message.init);
        return;
      case 'report':
        if ('callId' in message.report && message.report.state !== 'started')
          this.#end(message.report.callId);
        this.#outbox.report(message.report, (callId, token) => {
          this.#leases.lose(callId, token);
        });
        return;
      case 'settle':
        this.#settle(message);
        return;
      case 'closed_lanes':
        this.#closed = message.closed;
        // A registration tells of them too.
        if (this.#registration !== undefined) this.#tellClosed();
        return;
      case 'drain':
        this.#draining = true;
        // The poll that is given up may have been answered already: the bridge has to ask about what it brought.
        this.#registerAgain();
        return;
      case 'close':
        void this.#close();
        return;
    }
  }

  async #register(): Promise<void> {
    const { workerId, incarnationId, journalId, capabilities, slots } = this.#options;
    const sentAt = leaseClock();
    const registrationId = randomBytes(16).toString('hex');
    const identity = { workerId, incarnationId, registrationId, journalId };
    const closed = this.#closed;
    const offer = { capabilities, slots, holds: this.#leases.held, takeOver: this.#takeOver };
    const paused = [...this.#paused];
    const lanes = toldClosedLanes(closed, Date.now());
    const reply = await this.#client.register({ ...identity, ...offer, closed: lanes, paused });
    for (const callId of reply.forgotten ?? []) {
      this.#paused.delete(callId);
      this.#emit({ kind: 'lost', callId });
    }
    // Taking over is one act: a later re-registration must not repeat it against a successor.
    this.#takeOver = false;
    this.#registration = { ...reply, registrationId };
    this.#leases.registered(reply, sentAt);
    this.#emit({ kind: 'registered', slots: reply.slots, unresolved: reply.unresolved });
    if (closed !== this.#closed) this.#tellClosed();
    this.#wake?.();
  }

  async #poll(): Promise<void> {
    const registration = this.#registration;
    if (registration === undefined) return;
    const polling = new AbortController();
    this.#polling = polling;
    const sentAt = leaseClock();
    const { incarnationId } = this.#options;
    const { registrationId } = registration;
    try {
      const body = { incarnationId, registrationId, waitMs: this.#pollWaitMs() };
      await this.#client.poll(body, polling.signal, ({ assignments, cancellations, expected, heldMs }) => {
        // Registering has begun anew: the bridge will ask about what this batch brings.
        if (registration !== this.#registration) return;
        this.#take(assignments, sentAt + heldMs);
        this.#cancel(cancellations);
        for (const lane of expected ?? []) this.#emit({ kind: 'expected', lane });
      });
      this.#wasDisplaced = false;
    } catch (error) {
      if (polling.signal.aborted) return;
      if (!this.#isDisplaced(error)) throw error;
      this.#registerAgain();
    }
  }

  /** Never so long that an idle worker would count as gone before its next poll. */
  #pollWaitMs(): number {
    const { pollWaitMs, leaseMarginMs } = this.#options.clocks;
    const heardWithinMs = this.#registration?.leaseTtlMs ?? 0;
    return Math.max(0, Math.min(pollWaitMs, heardWithinMs - leaseMarginMs));
  }

  #take(assignments: readonly Assignment[], leasedAt: number): void {
    this.#leases.hold(assignments, leasedAt);
    for (const assignment of assignments) {
      this.#paused.delete(assignment.callId);
      this.#emit({ kind: 'assignment', assignment });
    }
  }

  #started(lease: Lease, init: ProcessIdentity): void {
    // The lease may have ended between the assignment and the start: then nothing may go on running.
    if (!this.#leases.started(lease, init)) return;
    this.#outbox.started(lease, (callId, token) => {
      this.#leases.lose(callId, token);
    });
  }

  #settle(settled: SettledCall): void {
    if (settled.settlement.status === 'paused') {
      this.#settlePause(settled);
      return;
    }
    const { callId, token } = settled.lease;
    const tracked = this.#leases.has(callId);
    const worthwhile = () => !tracked || this.#leases.has(callId);
    this.#outbox.settle(settled, worthwhile, () => {
      this.#leases.drop(callId, token);
    });
  }

  /** Told until it is answered: whether the script will go on depends on it. */
  #settlePause(settled: SettledCall): void {
    const { callId, token } = settled.lease;
    this.#leases.giveUp(settled.lease);
    this.#outbox.settle(
      settled,
      () => true,
      (reply) => {
        this.#leases.drop(callId, token);
        if (this.#leases.has(callId)) return;
        // Nobody has it as paused, so that it would wait for nothing.
        if (reply?.accepted === true) this.#paused.add(callId);
        else this.#emit({ kind: 'lost', callId });
      },
    );
  }

  #tellClosed(): void {
    const lanes = toldClosedLanes(this.#closed, Date.now());
    this.#outbox.report({ state: 'closed', lanes }, () => undefined);
  }

  async #renew(leases: readonly Lease[]): Promise<readonly string[] | undefined> {
    if (this.#registration === undefined) return undefined;
    try {
      const reply = await this.#client.renew({
        incarnationId: this.#options.incarnationId,
        leases: [...leases],
      });
      this.#cancel(reply.cancellations);
      return reply.lost;
    } catch (error) {
      // The poll meets the same bridge: it registers again, or ends the session where that is final.
      if (error instanceof BridgeRefusal) this.#registerAgain();
      return undefined;
    }
  }

  #cancel(callIds: readonly string[]): void {
    for (const callId of callIds) {
      this.#paused.delete(callId);
      this.#emit({ kind: 'cancel', callId });
    }
  }

  #end(callId: string): void {
    this.#paused.delete(callId);
    this.#leases.drop(callId);
  }

  async #send<T>(
    request: (client: BridgeClient) => Promise<T>,
    worthwhile: () => boolean,
  ): Promise<T | undefined> {
    let failures = 0;
    while (worthwhile() && !this.#isOver()) {
      try {
        return await request(this.#client);
      } catch (error) {
        if (error instanceof BridgeRefusal) {
          if (!error.isPassing) return undefined;
          this.#registerAgain();
        }
        await backOff(this.#options.clocks, failures, this.#ended.signal);
        failures += 1;
      }
    }
    return undefined;
  }

  #registerAgain(): void {
    this.#registration = undefined;
    this.#polling?.abort();
    this.#wake?.();
  }

  /**
   * Whether a poll was refused as that of an earlier start. The bridge may have lost that this one registered, or heard
   * late of an earlier one: registering again tells, once until a poll is taken. No other start of this journal lives,
   * as its lock is held here.
   */
  #isDisplaced(error: unknown): boolean {
    const isFenced = error instanceof BridgeRefusal && error.code === 'WORKER_FENCED';
    if (!isFenced || this.#wasDisplaced) return false;
    this.#wasDisplaced = true;
    return true;
  }

  #endIfFinal(error: unknown): boolean {
    if (!(error instanceof BridgeRefusal) || error.isPassing) return false;
    this.#emit({ kind: 'refused', code: error.code, message: error.message });
    this.#stop();
    return true;
  }

  #untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#ended.signal.addEventListener('abort', () => {
        resolve();
      });
    });
  }

  async #close(): Promise<void> {
    this.#draining = true;
    this.#polling?.abort();
    await this.#outbox.empty();
    this.#stop();
    this.#emit({ kind: 'closed' });
  }

  #isOver(): boolean {
    return this.#ended.signal.aborted;
  }

  #stop(): void {
    this.#ended.abort();
    this.#polling?.abort();
    this.#leases.stop();
    void this.#client.close();
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
