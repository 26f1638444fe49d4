import { randomBytes } from 'node:crypto';
import type { BridgeOptions } from '@codelanes/bridge';
import { Child } from '../rig/child.js';
import { RedisServer } from '../rig/redis-server.js';
import { Balancer } from './balancer.js';
import type { Random } from './random.js';

export interface LiveBridge {
  readonly child: Child;
  readonly url: string;
}

export interface BridgesOptions {
  readonly count: number;
  /** How many principals call. */
  readonly callers: number;
  readonly bridge?: Partial<BridgeOptions> | undefined;
}

/** Several bridge processes on one Redis with a log on disk. */
export class Bridges {
  readonly redis: RedisServer;
  readonly tokens: { readonly callers: readonly string[]; readonly admin: string; readonly worker: string };
  readonly #options: BridgesOptions;
  readonly #live: LiveBridge[] = [];
  readonly #balancers: Balancer[] = [];

  private constructor(redis: RedisServer, options: BridgesOptions) {
    this.redis = redis;
    this.tokens = {
      callers: Array.from({ length: options.callers }, newToken),
      admin: newToken(),
      worker: newToken(),
    };
    this.#options = options;
  }

  static async start(options: BridgesOptions): Promise<Bridges> {
    const bridges = new Bridges(await RedisServer.start({ appendOnly: true }), options);
    await Promise.all(Array.from({ length: options.count }, () => bridges.add()));
    return bridges;
  }

  /** Those that serve at the moment, the oldest first. */
  get live(): readonly LiveBridge[] {
    return this.#live;
  }

  /** Starts one more. */
  async add(): Promise<LiveBridge> {
    const { callers, admin, worker } = this.tokens;
    const { child, announced } = await Child.start('bridge', {
      port: 0,
      tokens: { callers: [...callers], admin, worker },
      store: { kind: 'redis', url: this.redis.url },
      logLevel: 'error',
      // Tests send as fast as they can.
      rateLimit: 'off',
      ...this.#options.bridge,
    } satisfies BridgeOptions);
    const bridge = { child, url: announced };
    this.#live.push(bridge);
    return bridge;
  }

  /** Kills one; whoever comes to it before it is missed meets a closed port. */
  async kill(bridge: LiveBridge): Promise<void> {
    await bridge.child.end('SIGKILL');
    this.#forget(bridge);
  }

  /** Asks one to stop; from then on balancers send nothing more to it. Resolves when it has ended. */
  async drain(bridge: LiveBridge): Promise<void> {
    this.#forget(bridge);
    await bridge.child.end('SIGTERM');
  }

  /** An entrance to all of them. */
  async balancer(random: Random): Promise<Balancer> {
    const balancer = await Balancer.start(() => this.#live.map(({ url }) => url), random);
    this.#balancers.push(balancer);
    return balancer;
  }

  async stop(): Promise<void> {
    for (const balancer of this.#balancers) balancer.close();
    await Promise.all(this.#live.map(({ child }) => child.end('SIGKILL')));
    await this.redis.stop();
  }

  #forget(bridge: LiveBridge): void {
    const place = this.#live.indexOf(bridge);
    if (place >= 0) this.#live.splice(place, 1);
  }
}

function newToken(): string {
  return randomBytes(16).toString('hex');
}
