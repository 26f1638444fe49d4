import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { RedisServer } from '../../scheduler/testing/redis-server.js';
import type { BridgeOptions } from '../bridge-options.js';
import { TestBridge } from './test-bridge.js';
import { TestWorker } from './test-worker.js';

/** Bridges that share one Redis, which serves a file of tests; each test has names of its own in it. */
export class BridgesOnRedis {
  readonly #options: Partial<BridgeOptions>;
  #server: RedisServer | undefined;
  #prefixes = 0;
  #started: TestBridge[] = [];

  private constructor(options: Partial<BridgeOptions>) {
    this.#options = options;
  }

  /** To be called where a file or a suite begins: bridges that a test starts are closed after it. */
  static prepare(options: Partial<BridgeOptions> = {}): BridgesOnRedis {
    const bridges = new BridgesOnRedis(options);
    beforeAll(async () => {
      bridges.#server = await RedisServer.start();
    });
    beforeEach(() => {
      bridges.#prefixes += 1;
    });
    afterEach(async () => {
      await Promise.all(bridges.#started.map((bridge) => bridge.close()));
      bridges.#started = [];
    });
    afterAll(async () => {
      await bridges.#server?.stop();
    });
    return bridges;
  }

  get server(): RedisServer {
    if (this.#server === undefined) throw new Error('Redis serves tests only.');
    return this.#server;
  }

  /** One more bridge of the test that runs. */
  async start(): Promise<TestBridge> {
    const prefix = `bridges-${this.#prefixes}`;
    const store = { kind: 'redis', url: this.server.url, prefix } as const;
    const bridge = await TestBridge.start({ ...this.#options, store });
    this.#started.push(bridge);
    return bridge;
  }

  /** Two bridges, and a worker that registered at the first. */
  async startTwo(): Promise<{ one: TestBridge; other: TestBridge; worker: TestWorker }> {
    const [one, other] = [await this.start(), await this.start()];
    return { one, other, worker: await TestWorker.registered(one) };
  }
}
