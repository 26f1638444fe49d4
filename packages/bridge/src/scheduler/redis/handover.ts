import { randomBytes } from 'node:crypto';
import type { Fetched, Refused, WorkerFence } from '../store.js';
import { readAssignment } from './deliveries.js';
import { refusalOf } from './refusals.js';
import type { Restarts } from './restarts.js';
import type { WorkerScripts } from './worker-scripts.js';

/** Hands reserved calls over to their workers. */
export class Handover {
  readonly #scripts: WorkerScripts;
  readonly #restarts: Restarts;

  constructor(scripts: WorkerScripts, restarts: Restarts) {
    this.#scripts = scripts;
    this.#restarts = restarts;
  }

  /** What a Redis that was started anew holds is handed over only once all bridges have had their say. */
  async fetch(worker: WorkerFence): Promise<Fetched | Refused> {
    for (;;) {
      const agreement = this.#restarts.agreement();
      if (agreement !== undefined) await agreement;
      const wasRestarted = this.#restarts.watch();
      const fetched = await this.#fetch(worker);
      if (!(await wasRestarted())) return fetched;
      if ('assignments' in fetched) await this.#giveBack(worker, fetched);
    }
  }

  async #fetch({ workerId, incarnationId }: WorkerFence): Promise<Fetched | Refused> {
    const seed = randomBytes(32).toString('hex');
    const reply = await this.#scripts.run('fetch', workerId, [incarnationId, seed]);
    const refusal = refusalOf(reply, workerId);
    if (refusal !== undefined) return refusal;
    const assignments = Array.from({ length: reply.values.number() }, () => readAssignment(reply.values));
    return { ok: true, assignments, cancellations: reply.values.texts() };
  }

  /** To their places, where they can be withdrawn; what is held back there by the answer `busy` is offered again after it. */
  async #giveBack({ workerId, incarnationId }: WorkerFence, { assignments }: Fetched): Promise<void> {
    const refused = assignments.flatMap(({ callId, token }) => ['busy', callId, token]);
    if (refused.length > 0) await this.#scripts.run('report', workerId, [incarnationId, ...refused]);
    await this.#restarts.agreement();
    await this.#scripts.run('report', workerId, [incarnationId, 'freed', '', '']);
  }
}
