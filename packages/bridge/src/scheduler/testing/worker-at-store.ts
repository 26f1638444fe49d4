import { fieldsOfLane, laneKey } from '@codelanes/protocol';
import type { Assignment, Capabilities, HeldCall, Lane, Lease, Pause, Settlement } from '@codelanes/protocol';
import type { ManualClock } from '../manual-clock.js';
import type { Registration, SchedulerStore } from '../store.js';
import type { NewCall, NewToolCall } from '../stored-call.js';
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

/** How a setup ends well. */
export const ready: Settlement = {
  status: 'fulfilled',
  result: { protocolVersion: 1, operation: 'setup', state: 'ready' },
};

/** What a script says that waits for one tool. */
export const waitsForTool: Pause = {
  status: 'paused',
  toolCalls: [{ id: 'call_1', name: 'look up', input: { of: 'all', within: [1, {}] } }],
  stdout: 'begun | "begun"\n',
};

export const setupTimeoutMs = 600_000;

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
  #registrations = 0;
  readonly assignments = new Map<string, Assignment>();

  constructor({ store, clock }: StoreOnClock, workerId = 'worker') {
    this.store = store;
    this.clock = clock;
    this.workerId = workerId;
  }

  get fence() {
    return { workerId: this.workerId, incarnationId: idOf(this.incarnation) };
  }

  /** The same start of the worker, which speaks to another bridge of the store from now on. */
  at(store: SchedulerStore): WorkerAtStore {
    const moved = new WorkerAtStore({ store, clock: this.clock }, this.workerId);
    moved.incarnation = this.incarnation;
    moved.#registrations = this.#registrations;
    return moved;
  }

  /** What its polls name. */
  get registration() {
    return { ...this.fence, registrationId: idOf(this.#registrations) };
  }

  register(changes: Partial<Registration> = {}) {
    this.#registrations += 1;
    return this.store.register({
      ...this.registration,
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

  newCall(lane: Lane, terms: CallTerms = {}): NewToolCall {
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

  /** A script, which may be paused. */
  newScript(lane: Lane, terms: CallTerms = {}): NewCall {
    const { workspaceId } = fieldsOfLane(lane);
    const request: NewCall['request'] = {
      protocolVersion: 1,
      operation: 'run_script',
      workspaceId,
      code: 'true',
      tools: [],
    };
    return { ...this.newCall(lane, terms), request };
  }

  /** Submits, fetches and starts a script. */
  async runScript(lane: Lane, terms?: CallTerms): Promise<string> {
    const call = this.newScript(lane, terms);
    await this.store.submit(call);
    await this.fetch();
    await this.report('started', call.callId);
    return call.callId;
  }

  async pause(callId: string, said: Pause = waitsForTool): Promise<boolean> {
    return (await this.store.settle(this.fence, this.lease(callId), said)).accepted;
  }

  /** Submits, starts and pauses a script. */
  async pausedScript(lane: Lane, terms?: CallTerms): Promise<string> {
    const callId = await this.runScript(lane, terms);
    await this.pause(callId);
    return callId;
  }

  resume(callId: string) {
    return this.store.resume(callId, [{ callId: 'call_1', result: 'found' }]);
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
    const reply = await this.store.fetch(this.registration);
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
    const { lane, mode, pool, request } = assignment;
    const held = { ...this.lease(callId), lane, mode, pool };
    return request.operation === 'setup' ? { ...held, operation: 'setup' } : held;
  }

  async report(state: 'started' | 'busy', ...callIds: readonly string[]): Promise<readonly string[]> {
    const reports = callIds.map((callId) => ({ ...this.lease(callId), state }));
    return this.#fenced(await this.store.report(this.fence, reports));
  }

  /** Says that a lane must be set up, and that these commands of it wait for that; tells which setup there is then. */
  async unready(lane: Lane, ...busy: readonly string[]): Promise<string> {
    const told = busy.map((callId) => ({ ...this.lease(callId), state: 'busy' as const }));
    const reports = [{ state: 'unready' as const, lane, timeoutMs: setupTimeoutMs }, ...told];
    this.#fenced(await this.store.report(this.fence, reports));
    const setup = (await this.setups()).find((call) => laneKey(call.lane) === laneKey(lane));
    if (setup === undefined) throw new Error('there is no setup of that lane');
    return setup.callId;
  }

  /** The setups that wait or run. */
  async setups() {
    const view = await this.store.lanes(this.workerId);
    return [...(view?.running ?? []), ...(view?.waiting ?? [])].filter(
      ({ operation }) => operation === 'setup',
    );
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
