import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '../rig/child.js';
import type { LoggingWorkerOptions } from '../rig/logging-worker.js';
import type { Balancer } from './balancer.js';
import { Bridges } from './bridges.js';
import { readRuns, type Run } from './event-log.js';
import type { Random } from './random.js';

/** Clocks in tenths of a second. */
export const fleetClocks = {
  leaseTtlMs: 3_000,
  bridge: {
    scheduler: { leaseTtlMs: 3_000, fetchWithinMs: 500, placeKeptMs: 1_000, endRememberedMs: 30_000 },
    settlementGraceMs: 500,
    drainMs: 3_000,
  },
  worker: { pollWaitMs: 2_000, leaseMarginMs: 800, requestMs: 1_000, retryMinMs: 20, retryMaxMs: 200 },
} as const;

export interface FleetOptions {
  readonly bridges: number;
  readonly workers: readonly string[];
  readonly callers: number;
  readonly slots: number;
  readonly filePool: number;
}

interface FleetWorker {
  readonly child: Child;
  readonly link: Balancer;
}

/**
 * Several bridge processes on one Redis, and workers that log what they run. Callers and every worker reach the
 * bridges through balancers, each request any of them.
 */
export class Fleet {
  readonly bridges: Bridges;
  /** Where callers find the bridges. */
  readonly entrance: Balancer;
  readonly options: FleetOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), 'codelanes-fleet-'));
  readonly #workers = new Map<string, FleetWorker>();

  private constructor(bridges: Bridges, entrance: Balancer, options: FleetOptions) {
    this.bridges = bridges;
    this.entrance = entrance;
    this.options = options;
  }

  static async start(options: FleetOptions, random: Random): Promise<Fleet> {
    const { bridges: count, callers, filePool } = options;
    const bridges = await Bridges.start({ count, callers, bridge: { ...fleetClocks.bridge, filePool } });
    const fleet = new Fleet(bridges, await bridges.balancer(random), options);
    await Promise.all(options.workers.map((workerId) => fleet.#startWorker(workerId, random)));
    return fleet;
  }

  worker(workerId: string): FleetWorker {
    const worker = this.#workers.get(workerId);
    if (worker === undefined) throw new Error(`there is no worker ${workerId}`);
    return worker;
  }

  get runs(): Run[] {
    return this.options.workers.flatMap((workerId) => readRuns(workerId, this.#logOf(workerId)));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#workers.values()].map(({ child }) => child.end('SIGKILL')));
    await this.bridges.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #startWorker(workerId: string, random: Random): Promise<void> {
    const link = await this.bridges.balancer(random);
    const { slots, filePool } = this.options;
    const { child } = await Child.start('logging-worker', {
      bridgeUrl: link.url,
      access: { token: this.bridges.tokens.worker },
      workerId,
      slots,
      filePool,
      log: this.#logOf(workerId),
      clocks: fleetClocks.worker,
    } satisfies LoggingWorkerOptions);
    this.#workers.set(workerId, { child, link });
  }

  #logOf(workerId: string): string {
    return join(this.#folder, `${workerId}.jsonl`);
  }
}
