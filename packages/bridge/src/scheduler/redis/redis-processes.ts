import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.js';
import type { RedisClient, RedisConnections } from './connections.js';
import type { RedisKeys } from './keys.js';
import { LostSeconds } from './lost-seconds.js';

/** How soon a node of a cluster that does not answer is asked again. */
const askAgainMs = 200;

/** Answered by the node that has the keys of a worker, whichever that is now. */
const runIdScript = `return redis.call('INFO', 'server')`;

interface Parts {
  readonly connections: RedisConnections;
  readonly keys: RedisKeys;
  readonly clock: Clock;
  /** Takes a call out of the queue, if it is in it. */
  readonly withdraw: (workerId: string, callId: string) => Promise<unknown>;
}

/**
 * The processes of Redis that this bridge relies upon: one, or in a cluster for each worker the one that has its keys.
 * Whether one was started anew is asked whenever a connection of this bridge is lost or made: so a node that gives way
 * to its replica while it seems to be there for this bridge is not noticed.
 */
export class RedisProcesses {
  readonly #parts: Parts;
  readonly #one: LostSeconds | undefined;
  readonly #ofWorkers = new Map<string, LostSeconds>();
  #unnamed = 0;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { commands, subscriber } = parts.connections;
    if (commands.isCluster) this.#watchNodes(commands);
    else this.#one = this.#watched([commands, subscriber]);
  }

  /** What is known better than the process that has the keys of that worker. */
  lostSecondsOf(workerId: string): LostSeconds {
    const present = this.#one ?? this.#ofWorkers.get(workerId);
    if (present !== undefined) return present;
    const ofWorker = this.#lostSeconds(this.#runIdOf(workerId));
    this.#ofWorkers.set(workerId, ofWorker);
    ofWorker.restarts.connected();
    return ofWorker;
  }

  close(): void {
    this.#isClosed = true;
  }

  #watched(clients: readonly [commands: RedisClient, subscriber: RedisClient]): LostSeconds {
    const [commands] = clients;
    const lostSeconds = this.#lostSeconds(() => this.#runIdTold(commands.info('server')));
    commands.on('ready', () => {
      lostSeconds.restarts.connected();
    });
    for (const client of clients) {
      client.on('close', () => {
        lostSeconds.connectionLost();
      });
    }
    return lostSeconds;
  }

  #watchNodes(cluster: RedisClient): void {
    for (const change of ['-node', '+node']) {
      cluster.on(change, () => {
        for (const ofWorker of this.#ofWorkers.values()) {
          ofWorker.connectionLost();
          ofWorker.restarts.connected();
        }
      });
    }
  }

  #lostSeconds(askRunId: () => Promise<string | undefined>): LostSeconds {
    const { clock, withdraw } = this.#parts;
    return new LostSeconds({ clock, askRunId, withdraw });
  }

  /** Asks until there is an answer; whoever asks meanwhile has the same one, as it is of a process that still lives. */
  #runIdOf(workerId: string): () => Promise<string | undefined> {
    let asking: Promise<string | undefined> | undefined;
    return () => (asking ??= this.#untilTold(workerId).finally(() => (asking = undefined)));
  }

  async #untilTold(workerId: string): Promise<string | undefined> {
    const { connections, keys } = this.#parts;
    while (!this.#isClosed) {
      const told = connections.commands.eval(runIdScript, 1, keys.stateOf(workerId));
      const runId = await this.#runIdTold(told);
      if (runId !== undefined) return runId;
      await sleep(askAgainMs, undefined, { ref: false });
    }
    return undefined;
  }

  async #runIdTold(told: Promise<unknown>): Promise<string | undefined> {
    try {
      return /^run_id:(\w+)/m.exec(String(await told))?.[1];
    } catch (error) {
      if (!isForbidden(error)) return undefined;
      // A Redis that does not say which one it is counts as another one after each connection.
      this.#unnamed += 1;
      return `unnamed-${this.#unnamed}`;
    }
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && /NOPERM|ACL|unknown command/i.test(error.message);
}
