import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BridgeOptions } from '@codelanes/bridge';
import type { WorkerOptions } from '@codelanes/worker';
import { Caller } from './caller.js';
import { Child, type Surroundings } from './child.js';
import type { Repository } from './repository.js';

/** What a test wants otherwise; the surroundings are the worker's. */
export interface DeploymentOptions extends Surroundings {
  readonly slots?: number;
  readonly lanes?: boolean;
  readonly bridge?: Partial<BridgeOptions>;
  readonly worker?: Partial<WorkerOptions>;
}

/** Clocks in tenths of a second, for tests in which a lease or a process has to end. */
export const quickClocks = {
  bridge: {
    scheduler: { leaseTtlMs: 2_000, fetchWithinMs: 300, placeKeptMs: 1_500, endRememberedMs: 30_000 },
    settlementGraceMs: 500,
    drainMs: 2_000,
  },
  worker: {
    killGraceMs: 100,
    quarantineCheckMs: 50,
    goneWithinMs: 1_000,
    shutdownGraceMs: 1_000,
    shutdownForceMs: 2_000,
    clocks: { leaseMarginMs: 500, retryMinMs: 20, retryMaxMs: 200, requestMs: 2_000 },
  },
} as const;

/**
 * Clocks for tests in which a lease has to end, or a worker has to come back soon, and before that nothing may be taken
 * for gone: a busy machine stops any process for seconds.
 */
export const steadyClocks = {
  bridge: { scheduler: { leaseTtlMs: 8_000 } },
  worker: {
    killGraceMs: 100,
    quarantineCheckMs: 50,
    clocks: { leaseMarginMs: 1_000, retryMinMs: 20, retryMaxMs: 200 },
  },
} as const;

/** A bridge and a worker as real processes on one repository. */
export class Deployment {
  readonly repository: Repository;
  readonly tokens = { caller: token(), other: token(), admin: token(), worker: token() };
  readonly #options: DeploymentOptions;
  #url = '';
  bridge: Child | undefined;
  worker: Child | undefined;

  private constructor(repository: Repository, options: DeploymentOptions) {
    this.repository = repository;
    this.#options = options;
  }

  static async start(repository: Repository, options: DeploymentOptions = {}): Promise<Deployment> {
    const deployment = new Deployment(repository, options);
    await deployment.startBridge();
    await deployment.startWorker();
    return deployment;
  }

  /** Starts the bridge; after the first time on the port that it had, so that the worker finds it. */
  async startBridge(more: Partial<BridgeOptions> = {}): Promise<void> {
    const { caller, other, admin, worker } = this.tokens;
    const port = this.#url === '' ? 0 : Number(new URL(this.#url).port);
    const { child, announced } = await Child.start('bridge', {
      port,
      tokens: { callers: [caller, other], admin, worker },
      logLevel: 'warn',
      // Tests send as fast as they can.
      rateLimit: 'off',
      ...this.#options.bridge,
      ...more,
    } satisfies BridgeOptions);
    this.bridge = child;
    this.#url = announced;
  }

  /** Waits until the bridge, which may have just been started again, knows its worker. */
  async untilServed(): Promise<void> {
    const path = '/v1/bridge/workers/w1/status';
    while (!(await this.caller().send('GET', path)).text.includes('"online":true')) await sleep(20);
  }

  async startWorker(more: Partial<WorkerOptions> = {}): Promise<Child> {
    const { child } = await Child.start(
      'worker',
      {
        bridgeUrl: this.#url,
        token: this.tokens.worker,
        workerId: 'w1',
        roots: [
          { id: 'primary', root: this.repository.root, linkedWorktreeLanes: this.#options.lanes ?? true },
        ],
        slots: this.#options.slots ?? 2,
        stateDir: this.stateDir,
        home: this.home,
        allowRoot: true,
        ...this.#options.worker,
        ...more,
      } satisfies WorkerOptions,
      this.#options,
    );
    this.worker = child;
    return child;
  }

  get url(): string {
    return this.#url;
  }

  get stateDir(): string {
    return join(this.repository.folder, 'state');
  }

  /** A home of the operator's, apart from the one of whoever runs the tests. */
  get home(): string {
    const home = join(this.repository.folder, 'home');
    mkdirSync(home, { recursive: true });
    return home;
  }

  /** A caller with its own principal; `other` is a second one. */
  caller(who: 'caller' | 'other' = 'caller'): Caller {
    return new Caller(this.#url, this.tokens[who], this.tokens.admin);
  }

  async stop(): Promise<void> {
    await this.worker?.end('SIGKILL');
    await this.bridge?.end('SIGKILL');
  }
}

function token(): string {
  return randomBytes(16).toString('hex');
}
