import { randomBytes } from 'node:crypto';
import {
  callStateSchema,
  CodelanesError,
  type CallState,
  type Lane,
  type LanesView,
  type Lease,
  type Pause,
  type Report,
  type Settlement,
  type ToolResult,
} from '@codelanes/protocol';
import { z } from 'zod';
import { refused } from './memory/refused.js';
import type { DurableRequests } from './durable-requests.js';
import { Losses } from './losses.js';
import { toolCallIds } from './paused-script.js';
import { Alarms } from './redis/alarms.js';
import { readCallEnd } from './redis/call-end.js';
import { CallWhereabouts } from './redis/call-whereabouts.js';
import { CapabilitiesReader } from './redis/capabilities-reader.js';
import { connectRedis, type RedisAddress, type RedisConnections } from './redis/connections.js';
import { storedBody } from './redis/deliveries.js';
import { Handover } from './redis/handover.js';
import { RedisKeys } from './redis/keys.js';
import { RedisDurableRequests } from './redis/durable/redis-durable-requests.js';
import { Layout } from './redis/layout.js';
import { Presence } from './redis/presence.js';
import { Reach } from './redis/reach.js';
import { RedisProcesses } from './redis/redis-processes.js';
import { refusalOf } from './redis/refusals.js';
import { registrationArguments } from './redis/registration-arguments.js';
import { reportArguments } from './redis/report-arguments.js';
import { ScriptRunner } from './redis/script-runner.js';
import { lanePath, modeLetter, poolLetter, storedText } from './redis/stored-text.js';
import { storeUnavailable } from './redis/unavailable.js';
import { readCall, readLanes, readLoad, readPaused, readReason, readTiming } from './redis/views.js';
import { Wakes } from './redis/wakes.js';
import { WorkerList } from './redis/worker-list.js';
import { WorkerScripts, type RedisTimes } from './redis/worker-scripts.js';
import {
  defaultSchedulerSettings,
  type CallEnd,
  type Clock,
  type Fetched,
  type Loss,
  type NewCall,
  type OwnedCallView,
  type PausedCall,
  type Refused,
  type Registered,
  type Registration,
  type RegistrationFence,
  type Renewed,
  type Resumed,
  type SchedulerSettings,
  type SchedulerStore,
  type Settled,
  type Submitted,
  type WithdrawReason,
  type Withdrawn,
  type WorkerFence,
  type WorkerLoad,
  type WorkerView,
} from './store.js';
import { SystemClock } from './system-clock.js';

const defaultTimes: RedisTimes = { bridgeSilentMs: 4_000, keysKeptMs: 3_600_000 };

export interface RedisStoreOptions {
  readonly address: RedisAddress;
  /** What every key begins with; bridges share what they store when they share it. */
  readonly prefix?: string | undefined;
  readonly settings?: SchedulerSettings | undefined;
  readonly times?: Partial<RedisTimes> | undefined;
  /** Told of lost connections; the store connects again by itself. */
  readonly onError?: ((error: Error) => void) | undefined;
  /** Time of a replay or simulation, in place of the clock of Redis. */
  readonly simulatedTime?: Clock | undefined;
}

/**
 * The store that several bridges share, any of which may die. Every transition is one Lua script on the keys of
 * one worker; time is the clock of Redis and never goes back. Whoever runs a script next first does what is due.
 * Methods reject with `STORE_UNAVAILABLE` while Redis cannot be reached; a call whose submission was on its way
 * then is taken back as soon as it can be.
 */
export class RedisStore implements SchedulerStore {
  /** Names this process in Redis; what it has in the queue leaves it when it dies. */
  readonly #bridgeId = randomBytes(8).toString('hex');
  readonly #settings: SchedulerSettings;
  readonly #connections: RedisConnections;
  readonly #reach: Reach;
  readonly #layout: Layout;
  readonly #scripts: WorkerScripts;
  readonly #whereabouts: CallWhereabouts;
  readonly #workers: WorkerList;
  readonly #wakes: Wakes;
  readonly #alarms: Alarms;
  readonly #presence: Presence;
  readonly #processes: RedisProcesses;
  readonly #handover: Handover;
  readonly #losses = new Losses();
  readonly #capabilities = new CapabilitiesReader();
  /** Durable requests over the same connections and keys. */
  readonly durable: DurableRequests;
  #attempts = 0;
  #closed = false;

  constructor(options: RedisStoreOptions) {
    const { address, prefix = 'codelanes', simulatedTime } = options;
    const clock = simulatedTime ?? new SystemClock();
    const keys = new RedisKeys(prefix);
    const times = { ...defaultTimes, ...options.times };
    this.#settings = options.settings ?? defaultSchedulerSettings;
    this.#connections = connectRedis(address, options.onError ?? ignore);
    const { commands, subscriber } = this.#connections;
    this.#reach = new Reach(commands);
    this.#layout = new Layout(commands, keys);
    this.#alarms = new Alarms(clock, (workerId) => void this.#tick(workerId));
    this.#presence = new Presence(clock, times.bridgeSilentMs, (workerId) => this.#beat(workerId));
    this.#whereabouts = new CallWhereabouts(commands, keys);
    this.#workers = new WorkerList(commands, keys, clock, times.keysKeptMs);
    this.#scripts = new WorkerScripts({
      runner: new ScriptRunner(commands),
      keys,
      layout: this.#layout,
      settings: this.#settings,
      times,
      simulatedTime,
      onDue: (workerId, ms) => {
        if (!this.#closed) this.#alarms.expect(workerId, ms);
      },
      onLoss: (loss) => {
        this.#losses.tell(loss);
      },
    });
    this.#processes = new RedisProcesses({
      connections: this.#connections,
      keys,
      clock,
      withdraw: (workerId, callId) => this.#scripts.run('withdraw', workerId, [callId, 'cancelled']),
    });
    this.#handover = new Handover(this.#scripts, this.#processes);
    // Whoever was silent because Redis was away is not to be taken for dead now.
    commands.on(commands.isCluster ? '+node' : 'ready', () => {
      this.#presence.tellAll();
    });
    this.durable = new RedisDurableRequests({
      scripts: this.#scripts,
      client: commands,
      keys,
      settings: this.#settings,
      whereabouts: this.#whereabouts,
      processes: this.#processes,
    });
    this.#wakes = new Wakes(subscriber, keys, clock, ({ workerId, dueMs, changes }) => {
      if (dueMs !== undefined) this.#alarms.expect(workerId, dueMs);
      const lostSeconds = this.#processes.lostSecondsOf(workerId);
      for (const { callId, state } of changes) lostSeconds.hear(callId, state);
      const returned = changes.some(
        ({ callId, state }) => state === 'waiting' && this.#whereabouts.isOwn(callId),
      );
      if (returned) this.#presence.begin(workerId);
    });
  }

  async register(registration: Registration): Promise<Registered | Refused> {
    const { workerId, holds } = registration;
    await this.#wakes.hearOf(workerId);
    const args = registrationArguments(registration);
    const reply = await this.#scripts.run('register', workerId, args);
    const refusal = refusalOf(reply, workerId);
    if (refusal !== undefined) return refusal;
    // Of calls that this Redis has lost it is not known either where they are.
    await Promise.all([
      this.#workers.note(workerId),
      ...holds.map(({ callId }) => this.#whereabouts.claim(callId, workerId, 0)),
    ]);
    return { ok: true, unresolved: reply.values.texts() };
  }

  async worker(workerId: string): Promise<WorkerView | undefined> {
    const { values } = await this.#scripts.run('worker', workerId);
    if (values.isAtEnd()) return undefined;
    const leaseExpiresInMs = values.number();
    const capabilities = this.#capabilities.read(workerId, values.text());
    return { online: leaseExpiresInMs > 0, leaseExpiresInMs, capabilities };
  }

  async submit(call: NewCall): Promise<Submitted | Refused> {
    const { callId, workerId } = call;
    // Heard from before the call is there, so that no change of it is missed.
    await this.#wakes.hearOf(workerId);
    const entered = this.#scripts.run('submit', workerId, [
      callId,
      lanePath(call.lane),
      modeLetter(call.mode),
      poolLetter(call.pool),
      storedText(call.principal),
      storedText(call.fingerprint),
      call.request.operation,
      this.#bridgeId,
      this.#nextAttempt(),
      String(this.#settings.queueLength),
      String(this.#settings.principalQueueLength),
      storedBody(call),
    ]);
    const claimed = this.#whereabouts.claim(callId, workerId, call.executionMs);
    const [holder, reply] = await this.#orTakenBack(Promise.all([claimed, entered]), call);
    const refusal = refusalOf(reply, workerId);
    if (refusal !== undefined) return refusal;
    if (holder !== workerId) {
      await this.#scripts.run('cancel', workerId, [callId]);
      return refused('CALL_ID_TAKEN', `There is already a call ${callId}.`);
    }
    this.#whereabouts.remember(callId, workerId);
    const state = reply.values.text() === 'reserved' ? 'reserved' : 'waiting';
    if (state === 'waiting') this.#presence.begin(workerId);
    return { ok: true, state };
  }

  async withdraw(callId: string, why: WithdrawReason): Promise<Withdrawn> {
    const workerId = await this.#whereabouts.workerOf(callId);
    if (workerId === undefined) return { withdrawn: false, state: undefined };
    const { values } = await this.#scripts.run('withdraw', workerId, [callId, why]);
    if (values.text() === '0') return { withdrawn: false, state: stateOf(values.text()) };
    const lostSeconds = this.#processes.lostSecondsOf(workerId);
    lostSeconds.withdrawn(workerId, callId);
    if (lostSeconds.mayHaveRun(callId)) return { withdrawn: false, state: 'interrupted' };
    const waitedMs = values.number();
    const waitedFor = readReason(values, { principal: values.text() });
    return { withdrawn: true, waitedFor, waitedMs };
  }

  async cancel(callId: string): Promise<CallState | undefined> {
    const workerId = await this.#whereabouts.workerOf(callId);
    if (workerId === undefined) return undefined;
    const { values } = await this.#scripts.run('cancel', workerId, [callId]);
    const state = stateOf(values.text());
    if (state === 'withdrawn') this.#processes.lostSecondsOf(workerId).withdrawn(workerId, callId);
    return state;
  }

  async fetch(worker: RegistrationFence): Promise<Fetched | Refused> {
    await this.#workers.note(worker.workerId);
    return this.#handover.fetch(worker);
  }

  async report(
    { workerId, incarnationId }: WorkerFence,
    reports: readonly Report[],
  ): Promise<{ readonly fenced: readonly string[] } | Refused> {
    const { args, setups } = reportArguments(workerId, reports);
    // By its id an administrator finds a setup, whichever bridge is asked. Without one the script goes at once, as
    // what is said in the same turn keeps its order.
    if (setups.length > 0) {
      const waitsMs = 24 * 3_600_000;
      await Promise.all(
        setups.map(({ callId, executionMs }) =>
          this.#whereabouts.claim(callId, workerId, waitsMs + executionMs),
        ),
      );
    }
    const reply = await this.#scripts.run('report', workerId, [incarnationId, ...args]);
    return refusalOf(reply, workerId) ?? { fenced: reply.values.texts() };
  }

  async renew(
    { workerId, incarnationId }: WorkerFence,
    leases: readonly Lease[],
  ): Promise<Renewed | Refused> {
    const args = [incarnationId, ...leases.flatMap(({ callId, token }) => [callId, token])];
    const reply = await this.#scripts.run('renew', workerId, args);
    const refusal = refusalOf(reply, workerId);
    if (refusal !== undefined) return refusal;
    return { ok: true, lost: reply.values.texts(reply.values.number()), cancellations: reply.values.texts() };
  }

  async settle(
    { workerId, incarnationId }: WorkerFence,
    { callId, token }: Lease,
    settlement: Settlement | Pause,
  ): Promise<Settled> {
    const args = [incarnationId, callId, token, JSON.stringify(settlement)];
    if (settlement.status === 'paused') {
      const keptFor = String(this.#settings.pausedMs);
      const [reply] = await Promise.all([
        this.#scripts.run('pause', workerId, [...args, keptFor, toolCallIds(settlement.toolCalls)]),
        this.#whereabouts.prolong(callId),
      ]);
      return { accepted: reply.values.text() === '1' };
    }
    const { values } = await this.#scripts.run('settle', workerId, args);
    return { accepted: values.text() === '1', timing: readTiming(values) };
  }

  async paused(callId: string): Promise<PausedCall | undefined> {
    const workerId = await this.#whereabouts.workerOf(callId);
    if (workerId === undefined) return undefined;
    return readPaused(workerId, callId, (await this.#scripts.run('paused', workerId, [callId])).values);
  }

  async resume(callId: string, results: readonly ToolResult[]): Promise<Resumed | undefined> {
    const workerId = await this.#whereabouts.workerOf(callId);
    if (workerId === undefined) return undefined;
    const args = [callId, JSON.stringify(results), this.#nextAttempt(), toolCallIds(results)];
    const { values } = await this.#scripts.run('resume', workerId, args);
    const answer = values.text();
    return answer === '' ? undefined : resumedSchema.parse(answer);
  }

  async end(callId: string): Promise<CallEnd | undefined> {
    const workerId = await this.#whereabouts.workerOf(callId);
    if (workerId === undefined) return undefined;
    const { values } = await this.#scripts.run('end', workerId, [callId]);
    const stored = values.text();
    if (stored === '') return undefined;
    return this.#processes.lostSecondsOf(workerId).endOf(workerId, callId, readCallEnd(stored));
  }

  async call(callId: string): Promise<OwnedCallView | undefined> {
    const workerId = await this.#whereabouts.workerOf(callId);
    if (workerId === undefined) return undefined;
    return readCall(workerId, callId, (await this.#scripts.run('call', workerId, [callId])).values);
  }

  async lanes(workerId: string): Promise<LanesView | undefined> {
    return readLanes(workerId, (await this.#scripts.run('lanes', workerId)).values);
  }

  async load(workerId: string): Promise<WorkerLoad | undefined> {
    return readLoad((await this.#scripts.run('load', workerId)).values);
  }

  workers(): Promise<readonly string[]> {
    return this.#workers.ids();
  }

  /** Rejects also where Redis holds another layout. */
  async ready(): Promise<void> {
    await this.#layout.check();
    try {
      await this.#connections.commands.ping();
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  onCall(callId: string, listener: () => void): () => void {
    return this.#wakes.onCall(callId, this.#whereabouts.knownWorkerOf(callId), listener);
  }

  onWorker(workerId: string, listener: () => void): () => void {
    return this.#wakes.onWorker(workerId, listener);
  }

  onExpected(workerId: string, listener: (lane: Lane) => void): () => void {
    return this.#wakes.onExpected(workerId, listener);
  }

  onLoss(listener: (loss: Loss) => void): () => void {
    return this.#losses.on(listener);
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#processes.close();
    this.#presence.close();
    this.#alarms.close();
    this.#wakes.close();
    this.#connections.close();
    return Promise.resolve();
  }

  /** Names one try of this process, so that a script knows it again where it is sent twice. */
  #nextAttempt(): string {
    this.#attempts += 1;
    return `${this.#bridgeId}-${this.#attempts}`;
  }

  async #beat(workerId: string): Promise<boolean> {
    const { values } = await this.#scripts.run('beat', workerId, [this.#bridgeId]);
    return values.text() === '1';
  }

  /** Whoever is awake does what is due; where nobody can reach Redis, nothing is lost by waiting. */
  async #tick(workerId: string): Promise<void> {
    try {
      await this.#scripts.run('tick', workerId);
    } catch {
      if (!this.#closed) this.#alarms.expect(workerId, unreachableMs);
    }
  }

  /** A submission that fails on its way may have been entered: then it is taken back, and nobody knows what ran. */
  async #orTakenBack<T>(submission: Promise<T>, { callId, workerId }: NewCall): Promise<T> {
    const wasNeverConnected = this.#reach.watch();
    try {
      return await submission;
    } catch (error) {
      if (!CodelanesError.is(error) || wasNeverConnected()) throw error;
      void this.#takeBack(callId, workerId);
      throw new CodelanesError(
        'ASSIGNMENT_EXPIRED',
        `${error.message} It is not known whether the call ran.`,
        {
          cause: error,
        },
      );
    }
  }

  async #takeBack(callId: string, workerId: string): Promise<void> {
    while (!this.#closed) {
      const isBack = await this.#scripts.run('cancel', workerId, [callId]).then(
        () => true,
        () => false,
      );
      if (isBack) return;
    }
  }
}

const resumedSchema = z.enum(['resumed', 'not_paused'] as const satisfies readonly Resumed[]);

const unreachableMs = 1_000;

function stateOf(text: string): CallState | undefined {
  return text === '' ? undefined : callStateSchema.parse(text);
}

function ignore(): void {
  // Commands reject by themselves while a connection is lost.
}
