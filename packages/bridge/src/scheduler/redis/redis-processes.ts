import { setTimeout as sleep } from 'node:timers/promises';
import { Command, type Cluster } from 'ioredis';
import type { Clock } from '../clock.js';
import { isCluster, type RedisClient, type RedisConnections } from './connections.js';
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
  /** Takes a call out of the queue that had left it before, if it is in it. */
  readonly withdrawAgain: (workerId: string, callId: string) => Promise<unknown>;
}

/** What is known better than the node of a cluster that has the keys of a worker, and where that node is. */
interface AtNode {
  readonly lostSeconds: LostSeconds;
  readonly slot: number;
  address: string | undefined;
}

/**
 * The processes of Redis that this bridge relies upon: one, or in a cluster for each worker the one that has its keys.
 * Whether one was started anew is asked whenever a connection of this bridge is lost or made, and in a cluster also where
 * the keys of a worker are at another node: one that has given way to its replica may still be there.
 */
export class RedisProcesses {
  readonly #parts: Parts;
  readonly #one: LostSeconds | undefined;
  readonly #ofWorkers = new Map<string, AtNode>();
  /** Counts what may lead to another process, for one that does not say its name. */
  #turns = 0;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { commands, subscriber } = parts.connections;
    if (isCluster(commands)) this.#watchNodes(commands);
    else this.#one = this.#watched([commands, subscriber]);
  }

  /** What is known better than the process that has the keys of that worker. */
  lostSecondsOf(workerId: string): LostSeconds {
    if (this.#one !== undefined) return this.#one;
    const present = this.#ofWorkers.get(workerId);
    if (present !== undefined) {
      this.#lookWhere(present);
      return present.lostSeconds;
    }
    const lostSeconds = this.#lostSeconds(this.#runIdOf(workerId));
    const slot = new Command('get', [this.#parts.keys.stateOf(workerId)]).getSlot();
    const address = this.#addressOf(slot);
    this.#ofWorkers.set(workerId, { lostSeconds, slot, address });
    lostSeconds.restarts.connected();
    return lostSeconds;
  }

  /** Asked later, the answer is whether another process has the keys of that worker, or was started, since now. */
  watch(workerId: string): () => Promise<boolean> {
    const wasRestarted = this.lostSecondsOf(workerId).restarts.watch();
    return () => {
      // What was asked meanwhile may have been led to another node.
      this.lostSecondsOf(workerId);
      return wasRestarted();
    };
  }

  close(): void {
    this.#isClosed = true;
  }

  #watched(clients: readonly [commands: RedisClient, subscriber: RedisClient]): LostSeconds {
    const [commands] = clients;
    const lostSeconds = this.#lostSeconds(() => this.#runIdTold(commands.info('server')));
    commands.on('ready', () => {
      this.#turns += 1;
    });
    for (const client of clients) {
      client.on('ready', () => {
        lostSeconds.restarts.connected();
      });
      client.on('close', () => {
        lostSeconds.connectionLost();
      });
    }
    return lostSeconds;
  }

  #watchNodes(cluster: Cluster): void {
    for (const change of ['-node', '+node']) {
      cluster.on(change, () => {
        for (const { lostSeconds } of this.#ofWorkers.values()) this.#mayBeAnother(lostSeconds);
      });
    }
  }

  #mayBeAnother(lostSeconds: LostSeconds): void {
    this.#turns += 1;
    lostSeconds.connectionLost();
    lostSeconds.restarts.connected();
  }

  #lookWhere(atNode: AtNode): void {
    const address = this.#addressOf(atNode.slot);
    if (address === undefined || address === atNode.address) return;
    const isFirst = atNode.address === undefined;
    atNode.address = address;
    if (!isFirst) this.#mayBeAnother(atNode.lostSeconds);
  }

  /** Where the last command to that slot was led, or the cluster said last that it is. */
  #addressOf(slot: number): string | undefined {
    const { commands } = this.#parts.connections;
    return isCluster(commands) ? commands.slots[slot]?.[0] : undefined;
  }

  #lostSeconds(askRunId: () => Promise<string | undefined>): LostSeconds {
    const { clock, withdrawAgain } = this.#parts;
    return new LostSeconds({ clock, askRunId, withdrawAgain });
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
      // A Redis that does not say which one it is counts as another one after each connection for commands.
      return `unnamed-${this.#turns}`;
    }
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && /NOPERM|ACL|unknown command/i.test(error.message);
}
