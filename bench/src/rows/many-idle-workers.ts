import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { workerWireVersion, type PollRequest, type RegisterRequest } from '@codelanes/protocol';
import { Pool } from 'undici';
import { repeat } from '../measure/repeat.js';
import { startChildBridge, tokens, type ChildBridge } from '../rig/bridges.js';
import { registration } from '../rig/paper-worker.js';
import { processorMs } from '../rig/processes.js';
import { withRedis } from '../rig/redis-server.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

const workers = 200;
const idleMs = 60_000;
/** As the worker holds its polls. */
const pollWaitMs = 25_000;

export const manyIdleWorkers: Row = {
  name: 'many-idle-workers',
  what:
    `Processor time (user and system, from /proc) of one bridge on Redis while ${workers} workers, whose polls come ` +
    'from one other process, wait for work, as a share of one core. 60 s, of which each round is an equal part.',
  unit: '%',
  gate: 5,
  goal: null,
  measure: (rounds) =>
    inTemporaryFolder((folder) =>
      withRedis(folder, async ({ url }) => {
        const bridge = await startChildBridge({ kind: 'redis', url });
        try {
          return await measure(bridge, rounds);
        } finally {
          await bridge.stop();
        }
      }),
    ),
};

async function measure(bridge: ChildBridge, rounds: number): Promise<Measured> {
  const idle = new IdleWorkers(bridge.url);
  try {
    await idle.begin();
    // Registrations are over, and every poll has been held once from its beginning to its end.
    await sleep(pollWaitMs + 5_000);
    const shares = await repeat(rounds, async () => {
      const [before, begin] = [processorMs(bridge.pid), performance.now()];
      await sleep(idleMs / rounds);
      return (100 * (processorMs(bridge.pid) - before)) / (performance.now() - begin);
    });
    return {
      rounds: shares,
      also: { 'polls answered, each s': idle.answered / ((idleMs + pollWaitMs) / 1000) },
    };
  } finally {
    await idle.end();
  }
}

/** Workers that do nothing but poll. */
class IdleWorkers {
  readonly #pool: Pool;
  #isOver = false;
  answered = 0;

  constructor(url: string) {
    this.#pool = new Pool(url, { connections: workers, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  }

  /** Resolves when all have registered. */
  async begin(): Promise<void> {
    for (let worker = 0; worker < workers; worker += 1) {
      const workerId = `idle-${worker}`;
      const incarnationId = randomBytes(16).toString('hex');
      const { capabilities, holds, takeOver, journalId, registrationId } = registration(8);
      const offer: RegisterRequest = {
        ...{ version: workerWireVersion, workerId, incarnationId, registrationId, journalId },
        ...{ capabilities, slots: 8, holds: [...holds], takeOver },
      };
      await this.#post(`/v1/workers/${workerId}/register`, offer);
      const fence = { incarnationId, registrationId };
      void this.#poll(workerId, { version: workerWireVersion, ...fence, waitMs: pollWaitMs });
    }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#pool.destroy();
  }

  async #poll(workerId: string, poll: PollRequest): Promise<void> {
    try {
      for (;;) {
        await this.#post(`/v1/workers/${workerId}/poll`, poll);
        this.answered += 1;
      }
    } catch (error) {
      if (!this.#isOver) throw error;
    }
  }

  async #post(path: string, body: object): Promise<void> {
    const { statusCode, body: answer } = await this.#pool.request({
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${tokens.worker}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (statusCode !== 200) throw new Error(`A worker was refused with status ${statusCode}: ${text}`);
  }
}
