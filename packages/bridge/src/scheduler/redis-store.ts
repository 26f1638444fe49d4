import {
  callStateSchema,
  type CallState,
  type Lane,
  type LanesView,
  type Lease,
  type Pause,
  type Report,
  type Settlement,
  type ToolResult,
} from '@codelanes/protocol';
import type { DurableRequests } from './durable-requests.js';
import { Losses } from './losses.js';
import { Alarms } from './redis/alarms.js';
import { BridgeName } from './redis/bridge-name.js';
import { CallWhereabouts } from './redis/call-whereabouts.js';
import { connectRedis, type RedisAddress, type RedisConnections } from './redis/connections.js';
import { Followers } from './redis/followers.js';
import { Handover } from './redis/handover.js';
import { HeardCalls } from './redis/heard-calls.js';
import { RedisKeys } from './redis/keys.js';
import { RedisDurableRequests } from './redis/durable/redis-durable-requests.js';
import { Layout } from './redis/layout.js';
import { Leases } from './redis/leases.js';
import { Presence } from './redis/presence.js';
import { Reach } from './redis/reach.js';
import { RedisProcesses } from './redis/redis-processes.js';
import { Registrations } from './redis/registrations.js';
import { ScriptRunner } from './redis/script-runner.js';
import { StoredCalls } from './redis/stored-calls.js';
import { Submissions } from './redis/submissions.js';
import { readLanes, readLoad } from './redis/views.js';
import { Wakes, type News } from './redis/wakes.js';
import { WorkerList } from './redis/worker-list.js';
import { defaultRedisTimes, WorkerScripts, type RedisTimes } from './redis/worker-scripts.js';
import type {
  CallEnd,
  Fetched,
  Follower,
  Loss,
  OwnedCallView,
  PausedCall,
  Refused,
  Registered,
  Registration,
  RegistrationFence,
  Renewed,
  Resumed,
  SchedulerStore,
  Settled,
  SubmissionRefused,
  Submitted,
  WithdrawReason,
  Withdrawn,
  WorkerFence,
  WorkerLoad,
  WorkerView,
} from './store.js';
import { defaultSchedulerSettings, type SchedulerSettings } from './scheduler-settings.js';
import type { Clock } from './clock.js';
import type { NewCall } from './stored-call.js';
import { SystemClock } from './system-clock.js';

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
  readonly #name = new BridgeName();
  readonly #connections: RedisConnections;
  readonly #layout: Layout;
  readonly #scripts: WorkerScripts;
  readonly #whereabouts: CallWhereabouts;
  readonly #workers: WorkerList;
  readonly #wakes: Wakes;
  readonly #alarms: Alarms;
  readonly #presence: Presence;
  readonly #processes: RedisProcesses;
  readonly #handover: Handover;
  readonly #heard = new HeardCalls();
  readonly #followers: Followers;
  readonly #leases: Leases;
  readonly #calls: StoredCalls;
  readonly #submissions: Submissions;
  readonly #losses = new Losses();
  readonly #registrations: Registrations;
  /** Durable requests over the same connections and keys. */
  readonly durable: DurableRequests;
  #closed = false;

  constructor(options: RedisStoreOptions) {
    const { address, prefix = 'codelanes', settings = defaultSchedulerSettings, simulatedTime } = options;
    const clock = simulatedTime ?? new SystemClock();
    const keys = new RedisKeys(prefix);
    const times = { ...defaultRedisTimes, ...options.times };
    this.#connections = connectRedis(address, options.onError ?? ignore);
    const { commands, subscriber } = this.#connections;
    this.#layout = new Layout(commands, keys);
    this.#alarms = new Alarms(clock, (workerId) => void this.#tick(workerId));
    this.#presence = new Presence(clock, times.bridgeSilentMs, (workerId) => this.#beat(workerId));
    this.#whereabouts = new CallWhereabouts(commands, keys);
    this.#workers = new WorkerList(commands, keys, clock, times.keysKeptMs);
    this.#scripts = new WorkerScripts({
      runner: new ScriptRunner(commands),
      keys,
      layout: this.#layout,
      settings,
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
      withdrawAgain: (workerId, callId) =>
        this.#scripts.run('withdraw', workerId, [callId, 'cancelled', '1']),
    });
    this.#handover = new Handover(this.#scripts, this.#processes);
    this.#leases = new Leases(this.#scripts, this.#whereabouts, settings);
    this.#calls = new StoredCalls({
      scripts: this.#scripts,
      name: this.#name,
      whereabouts: this.#whereabouts,
      processes: this.#processes,
    });
    // Whoever was silent because Redis was away is not to be taken for dead now.
    commands.on(commands.isCluster ? '+node' : 'ready', () => {
      this.#presence.tellAll();
    });
    this.durable = new RedisDurableRequests({
      scripts: this.#scripts,
      client: commands,
      keys,
      settings,
      whereabouts: this.#whereabouts,
      processes: this.#processes,
    });
    this.#wakes = new Wakes(subscriber, keys, clock, this.#name.id, {
      onNews: (news) => {
        this.#hear(news);
      },
      onEnd: (callId, end) => {
        this.#heard.hear(callId, { end });
      },
      onUnreadable: () => {
        this.#heard.forget();
      },
    });
    for (const client of [commands, subscriber]) {
      client.on(client.isCluster ? '-node' : 'close', () => {
        this.#heard.forget();
      });
    }
    const parts = {
      scripts: this.#scripts,
      wakes: this.#wakes,
      processes: this.#processes,
      presence: this.#presence,
    };
    this.#followers = new Followers(parts, this.#heard);
    this.#registrations = new Registrations({
      scripts: this.#scripts,
      wakes: this.#wakes,
      workers: this.#workers,
      whereabouts: this.#whereabouts,
    });
    this.#submissions = new Submissions({
      scripts: this.#scripts,
      settings,
      name: this.#name,
      whereabouts: this.#whereabouts,
      wakes: this.#wakes,
      heard: this.#heard,
      presence: this.#presence,
      reach: new Reach(commands),
    });
  }

  register(registration: Registration): Promise<Registered | Refused> {
    return this.#registrations.register(registration);
  }

  worker(workerId: string): Promise<WorkerView | undefined> {
    return this.#registrations.view(workerId);
  }

  submit(call: NewCall): Promise<Submitted | SubmissionRefused> {
    return this.#submissions.submit(call);
  }

  withdraw(callId: string, why: WithdrawReason): Promise<Withdrawn> {
    return this.#calls.withdraw(callId, why);
  }

  cancel(callId: string): Promise<CallState | undefined> {
    return this.#calls.cancel(callId);
  }

  async fetch(worker: RegistrationFence): Promise<Fetched | Refused> {
    await this.#workers.note(worker.workerId);
    return this.#handover.fetch(worker);
  }

  report(
    worker: WorkerFence,
    reports: readonly Report[],
  ): Promise<{ readonly fenced: readonly string[] } | Refused> {
    return this.#leases.report(worker, reports);
  }

  renew(worker: WorkerFence, leases: readonly Lease[]): Promise<Renewed | Refused> {
    return this.#leases.renew(worker, leases);
  }

  settle(worker: WorkerFence, lease: Lease, settlement: Settlement | Pause): Promise<Settled> {
    return this.#leases.settle(worker, lease, settlement);
  }

  paused(callId: string): Promise<PausedCall | undefined> {
    return this.#calls.paused(callId);
  }

  resume(callId: string, results: readonly ToolResult[]): Promise<Resumed | undefined> {
    return this.#calls.resume(callId, results);
  }

  end(callId: string): Promise<CallEnd | undefined> {
    return this.#calls.end(callId);
  }

  call(callId: string): Promise<OwnedCallView | undefined> {
    return this.#calls.call(callId);
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
  ready(): Promise<void> {
    return this.#layout.ready();
  }

  follow(callId: string, workerId: string, listener: () => void): Follower {
    return this.#followers.follow(callId, workerId, listener);
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
    this.#submissions.close();
    this.#presence.close();
    this.#alarms.close();
    this.#wakes.close();
    this.#connections.close();
    return Promise.resolve();
  }

  #hear({ workerId, dueMs, changes }: News): void {
    if (dueMs !== undefined) this.#alarms.expect(workerId, dueMs);
    const lostSeconds = this.#processes.lostSecondsOf(workerId);
    for (const { callId, state } of changes) {
      lostSeconds.hear(callId, state);
      this.#heard.hear(callId, { state: state === 'resumed' ? 'waiting' : callStateSchema.parse(state) });
    }
    const returned = changes.some(
      ({ callId, state }) => state === 'waiting' && this.#whereabouts.isOwn(callId),
    );
    if (returned) this.#presence.begin(workerId);
  }

  async #beat(workerId: string): Promise<boolean> {
    const { values } = await this.#scripts.run('beat', workerId, [this.#name.id]);
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
}

const unreachableMs = 1_000;

function ignore(): void {
  // Commands reject by themselves while a connection is lost.
}
