import { setTimeout as sleep } from 'node:timers/promises';
import { RedisServer } from './redis-server.js';

const slots = 16_384;

/** A Redis Cluster of three masters on loopback. */
export class RedisCluster {
  readonly #servers: readonly RedisServer[];
  readonly #replicas: RedisServer[] = [];

  private constructor(servers: readonly RedisServer[]) {
    this.#servers = servers;
  }

  /** Resolves when every node sees all slots served. `appendOnly` makes a restart of a node keep what was written. */
  static async start({ appendOnly = false } = {}): Promise<RedisCluster> {
    const options = { cluster: true, appendOnly };
    const servers = await Promise.all([1, 2, 3].map(() => RedisServer.start(options)));
    const [first] = servers;
    for (const [index, server] of servers.entries()) {
      const from = Math.floor((slots * index) / servers.length);
      const to = Math.floor((slots * (index + 1)) / servers.length) - 1;
      await server.ask(async (client) => {
        await client.cluster('ADDSLOTSRANGE', from, to);
        if (first !== undefined && server !== first) await client.cluster('MEET', '127.0.0.1', first.port);
      });
    }
    const cluster = new RedisCluster(servers);
    await cluster.untilServing();
    return cluster;
  }

  /** Resolves when every node sees all slots served. */
  async untilServing(): Promise<void> {
    for (const server of this.#servers) {
      while (!(await server.ask((client) => client.cluster('INFO'))).includes('cluster_state:ok')) {
        await sleep(50);
      }
    }
  }

  /** The node that has the slot of that key. */
  async serverOf(key: string): Promise<RedisServer> {
    const slot = await this.#first.ask((client) => client.cluster('KEYSLOT', key));
    const server = this.#servers.find(
      (_, index) => slot < Math.floor((slots * (index + 1)) / this.#servers.length),
    );
    return server ?? this.#first;
  }

  get #first(): RedisServer {
    const [first] = this.#servers;
    if (first === undefined) throw new Error('a cluster has at least one node');
    return first;
  }

  get urls(): readonly string[] {
    return this.#servers.map(({ url }) => url);
  }

  /** Adds a replica of that node, which has all that the node has and is known to all; it ends with the cluster. */
  async addReplicaOf(server: RedisServer): Promise<RedisServer> {
    const replica = await RedisServer.start({ cluster: true });
    this.#replicas.push(replica);
    const nodeId = await server.ask((client) => client.cluster('MYID'));
    await replica.ask(async (client) => {
      for (const { port } of this.#servers) await client.cluster('MEET', '127.0.0.1', port);
      while (!String(await client.cluster('NODES')).includes(nodeId)) await sleep(50);
      await client.cluster('REPLICATE', nodeId);
    });
    while ((await server.ask((client) => client.wait(1, 100))) < 1) await sleep(50);
    await this.untilReplica(replica);
    return replica;
  }

  /** Resolves when every node sees it as a replica, and tells clients of it. */
  async untilReplica(replica: RedisServer): Promise<void> {
    const id = await replica.ask((client) => client.cluster('MYID'));
    const isKnown = new RegExp(`^${id} .*slave`, 'm');
    for (const node of [...this.#servers, ...this.#replicas]) {
      while (!isKnown.test(String(await node.ask((client) => client.cluster('NODES'))))) await sleep(50);
      // Only once they have heard how far it is.
      while (!JSON.stringify(await node.ask((client) => client.cluster('SLOTS'))).includes(id))
        await sleep(50);
    }
  }

  /** From here on that replica of a node, which has all that it has, gets nothing of it any more, and stands still. */
  async cutOff(replica: RedisServer, node: RedisServer): Promise<void> {
    while ((await offsetOf(replica)) !== (await offsetOf(node))) await sleep(50);
    replica.signal('SIGSTOP');
    // What had been sent it would still read when it goes on.
    await node.ask((client) => client.call('CLIENT', 'KILL', 'TYPE', 'REPLICA'));
  }

  /** It goes on and takes over, as the other nodes would have it once they agree that its node is gone. */
  async takeOver(replica: RedisServer): Promise<void> {
    replica.signal('SIGCONT');
    await replica.ask((client) => client.cluster('FAILOVER', 'TAKEOVER'));
  }

  /** For each node what starts it anew; resolves when the cluster serves again. */
  get restarts(): readonly (() => Promise<void>)[] {
    return this.#servers.map((server) => async () => {
      await server.kill();
      await server.run();
      await this.untilServing();
    });
  }

  /** How many keys each node holds. */
  keyCounts(): Promise<number[]> {
    return Promise.all(this.#servers.map((server) => server.ask((client) => client.dbsize())));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#servers, ...this.#replicas].map((server) => server.stop()));
  }
}

/** How far a node is in the history of what was written. */
async function offsetOf(node: RedisServer): Promise<string | undefined> {
  const told = await node.ask((client) => client.info('replication'));
  return /master_repl_offset:(\d+)/.exec(told)?.[1];
}
