import { randomBytes } from 'node:crypto';
import type { Fetched, Refused, RegistrationFence, WorkerFence } from '../store.js';
import { readAssignment } from './deliveries.js';
import { refusalOf } from './refusals.js';
import type { RedisProcesses } from './redis-processes.js';
import type { WorkerScripts } from './worker-scripts.js';

/** Hands reserved calls over to their workers. */
export class Handover {
  readonly #scripts: WorkerScripts;
  readonly #processes: RedisProcesses;

  constructor(scripts: WorkerScripts, processes: RedisProcesses) {
    this.#scripts = scripts;
    this.#processes = processes;
  }

  /** What a Redis that was started anew holds is handed over only once all bridges have had their say. */
  async fetch(worker: RegistrationFence): Promise<Fetched | Refused> {
    const { restarts } = this.#processes.lostSecondsOf(worker.workerId);
    for (;;) {
      const agreement = restarts.agreement();
      if (agreement !== undefined) await agreement;
      const wasRestarted = this.#processes.watch(worker.workerId);
      const fetched = await this.#fetch(worker);
      if (!(await wasRestarted())) return fetched;
      if ('assignments' in fetched) await this.#giveBack(worker, fetched);
    }
  }

  async #fetch({ workerId, incarnationId, registrationId }: RegistrationFence): Promise<Fetched | Refused> {
    const seed = randomBytes(32).toString('hex');
    const reply = await this.#scripts.run('fetch', workerId, [incarnationId, seed, registrationId]);
    const refusal = refusalOf(reply, workerId);
    if (refusal !== undefined) return refusal;
    const assignments = Array.from({ length: reply.values.number() }, () => readAssignment(reply.values));
    return { ok: true, assignments, cancellations: reply.values.texts() };
  }

  /** To their places, where they can be withdrawn; what is held back there by the answer `busy` is offered again after it. */
  async #giveBack({ workerId, incarnationId }: WorkerFence, { assignments }: Fetched): Promise<void> {
    const refused = assignments.flatMap(({ callId, token }) => ['busy', callId, token]);
    if (refused.length > 0) await this.#scripts.run('report', workerId, [incarnationId, ...refused]);
    await this.#processes.lostSecondsOf(workerId).restarts.agreement();
    await this.#scripts.run('report', workerId, [incarnationId, 'freed', '', '']);
  }
}
