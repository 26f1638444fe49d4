import type { Refused, Registered, Registration, WorkerView } from '../store.js';
import { CapabilitiesReader } from './capabilities-reader.js';
import type { CallWhereabouts } from './call-whereabouts.js';
import { refusalOf } from './refusals.js';
import { registrationArguments } from './registration-arguments.js';
import type { Wakes } from './wakes.js';
import type { WorkerList } from './worker-list.js';
import type { WorkerScripts } from './worker-scripts.js';

interface Parts {
  readonly scripts: WorkerScripts;
  readonly wakes: Wakes;
  readonly workers: WorkerList;
  readonly whereabouts: CallWhereabouts;
}

/** Takes workers in, and tells what they offer. */
export class Registrations {
  readonly #parts: Parts;
  readonly #capabilities = new CapabilitiesReader();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async register(registration: Registration): Promise<Registered | Refused> {
    const { workerId, holds } = registration;
    const { scripts, wakes, workers, whereabouts } = this.#parts;
    await wakes.hearOf(workerId);
    const reply = await scripts.run('register', workerId, registrationArguments(registration));
    const refusal = refusalOf(reply, workerId);
    if (refusal !== undefined) return refusal;
    // Of calls that this Redis has lost it is not known either where they are.
    await Promise.all([
      workers.enter(workerId),
      ...holds.map(({ callId }) => whereabouts.claim(callId, workerId, 0)),
    ]);
    return { ok: true, unresolved: reply.values.texts() };
  }

  async view(workerId: string): Promise<WorkerView | undefined> {
    const { values } = await this.#parts.scripts.run('worker', workerId);
    if (values.isAtEnd()) return undefined;
    const leaseExpiresInMs = values.number();
    const known = this.#capabilities.read(workerId, values.text());
    return { online: leaseExpiresInMs > 0, leaseExpiresInMs, ...known };
  }
}
