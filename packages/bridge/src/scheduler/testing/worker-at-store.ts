import type { Assignment, Capabilities, HeldCall, Lane, Lease, Settlement } from '@codelanes/protocol';
import type { ManualClock } from '../manual-clock.js';
import type { NewCall, Registration, SchedulerStore } from '../store.js';
import type { StoreOnClock } from './stores-under-test.js';

const capabilities: Capabilities = {
  statefulWorkspace: true,
  sandboxProfile: 'none',
  runtimes: ['bash'],
  sharedReads: true,
  workspaceTools: {
    protocolVersion: 1,
    operations: ['execute_command', 'read_file'],
    workspaces: [{ id: 'primary' }],
  },
};

export const done: Settlement = {
  status: 'rejected',
  error: { code: 'NOT_FOUND', message: 'There is no such file.' },
};

/** Of all workers, as an id is never used twice. */
let callsMade = 0x100;

/** A number as the id of a call, an incarnation or a journal. */
export function idOf(number: number): string {
  return number.toString(16).padStart(32, '0');
}

export type CallTerms = Partial<Omit<NewCall, 'callId' | 'workerId' | 'request'>>;

/** A worker and its callers at a store: submits with defaults, and remembers the leases that it was given. */
export class WorkerAtStore {
  readonly store: SchedulerStore;
  readonly clock: ManualClock;
  readonly workerId: string;
  readonly journalId = idOf(0xa);
  incarnation = 1;
  readonly assignments = new Map<string, Assignment>();

  constructor({ store, clock }: StoreOnClock, workerId = 'worker') {
    this.store = store;
    this.clock = clock;
    this.workerId = workerId;
  }

  get fence() {
    return { workerId: this.workerId, incarnationId: idOf(this.incarnation) };
  }

  register(changes: Partial<Registration> = {}) {
    return this.store.register({
      ...this.fence,
      journalId: this.journalId,
      capabilities,
      slots: 2,
      filePool: 2,
      capacities: [],
      holds: [],
      takeOver: false,
      ...changes,
    });
  }

  /** The same worker after a restart, holding these calls. */
  restart(holds: readonly HeldCall[] = [], changes: Partial<Registration> = {}) {
    this.incarnation += 1;
    return this.register({ holds, ...changes });
  }

  newCall(lane: Lane, terms: CallTerms = {}): NewCall {
    callsMade += 1;
    const pool = terms.pool ?? 'command';
    const envelope = { protocolVersion: 1 as const, workspaceId: lane[0] };
    return {
      callId: idOf(callsMade),
      workerId: this.workerId,
      lane,
      mode: 'exclusive',
      pool,
      principal: 'ann',
      fingerprint: 'f',
      executionMs: 1_000,
      ...terms,
      request:
        pool === 'command'
          ? { ...envelope, operation: 'execute_command', command: 'true' }
          : { ...envelope, operation: 'read_file', path: 'README.md' },
    };
  }

  /** @throws Error where the store refuses the call. */
  async submit(lane: Lane, terms?: CallTerms): Promise<string> {
    const call = this.newCall(lane, terms);
    const reply = await this.store.submit(call);
    if (!reply.ok) throw new Error(reply.error.code);
    return call.callId;
  }

  /** What a poll brings now: ids of assignments and of cancellations. */
  async fetch() {
    const reply = await this.store.fetch(this.fence);
    if (!reply.ok) throw new Error(reply.error.code);
    for (const assignment of reply.assignments) this.assignments.set(assignment.callId, assignment);
    return { calls: reply.assignments.map(({ callId }) => callId), cancellations: reply.cancellations };
  }

  lease(callId: string): Lease {
    const assignment = this.assignments.get(callId);
    if (assignment === undefined) throw new Error(`${callId} was never fetched`);
    return { callId, generation: assignment.generation, token: assignment.token };
  }

  hold(callId: string): HeldCall {
    const assignment = this.assignments.get(callId);
    if (assignment === undefined || assignment.pool === 'none') throw new Error(`${callId} cannot be held`);
    return { ...this.lease(callId), lane: assignment.lane, mode: assignment.mode, pool: assignment.pool };
  }

  async report(state: 'started' | 'busy', ...callIds: readonly string[]): Promise<readonly string[]> {
    const reports = callIds.map((callId) => ({ ...this.lease(callId), state }));
    return this.#fenced(await this.store.report(this.fence, reports));
  }

  async resolve(state: 'denied' | 'interrupted', callId: string): Promise<void> {
    this.#fenced(await this.store.report(this.fence, [{ callId, state }]));
  }

  async freed(): Promise<void> {
    this.#fenced(await this.store.report(this.fence, [{ state: 'freed' }]));
  }

  /** Submits, fetches and starts. */
  async run(lane: Lane, terms?: CallTerms): Promise<string> {
    const callId = await this.submit(lane, terms);
    await this.fetch();
    await this.report('started', callId);
    return callId;
  }

  async settle(callId: string, settlement: Settlement = done): Promise<boolean> {
    return (await this.store.settle(this.fence, this.lease(callId), settlement)).accepted;
  }

  async renew(...callIds: readonly string[]) {
    const leases = callIds.map((callId) => this.lease(callId));
    const reply = await this.store.renew(this.fence, leases);
    if (!reply.ok) throw new Error(reply.error.code);
    return { lost: reply.lost, cancellations: reply.cancellations };
  }

  async stateOf(callId: string) {
    return (await this.store.call(callId))?.view.state;
  }

  #fenced(reply: Awaited<ReturnType<SchedulerStore['report']>>): readonly string[] {
    if ('fenced' in reply) return reply.fenced;
    throw new Error(reply.error.code);
  }
}
