import type { Lease, Pause, Report, Settlement } from '@codelanes/protocol';
import { toolCallIds } from '../paused-script.js';
import type { Refused, Renewed, Settled, WorkerFence } from '../store.js';
import type { SchedulerSettings } from '../scheduler-settings.js';
import type { CallWhereabouts } from './call-whereabouts.js';
import { refusalOf } from './refusals.js';
import { reportArguments } from './report-arguments.js';
import { readTiming } from './views.js';
import type { WorkerScripts } from './worker-scripts.js';

/** Longer than a setup waits in the queue. */
const setupWaitsMs = 24 * 3_600_000;

/** What workers say of the calls that were handed to them. */
export class Leases {
  readonly #scripts: WorkerScripts;
  readonly #whereabouts: CallWhereabouts;
  readonly #settings: SchedulerSettings;

  constructor(scripts: WorkerScripts, whereabouts: CallWhereabouts, settings: SchedulerSettings) {
    this.#scripts = scripts;
    this.#whereabouts = whereabouts;
    this.#settings = settings;
  }

  async report(
    { workerId, incarnationId }: WorkerFence,
    reports: readonly Report[],
  ): Promise<{ readonly fenced: readonly string[] } | Refused> {
    const { args, setups } = reportArguments(workerId, reports);
    // By its id an administrator finds a setup, whichever bridge is asked. Without one the script goes at once, as
    // what is said in the same turn keeps its order.
    if (setups.length > 0) {
      await Promise.all(
        setups.map(({ callId, executionMs }) =>
          this.#whereabouts.claim(callId, workerId, setupWaitsMs + executionMs),
        ),
      );
    }
    const reply = await this.#scripts.run('report', workerId, [incarnationId, ...args]);
    return refusalOf(reply, workerId) ?? { fenced: reply.values.texts() };
  }

  async renew(
    { workerId, incarnationId }: WorkerFence,
    leases: readonly Lease[],
  ): Promise<Renewed | Refused> {
    const args = [incarnationId, ...leases.flatMap(({ callId, token }) => [callId, token])];
    const reply = await this.#scripts.run('renew', workerId, args);
    const refusal = refusalOf(reply, workerId);
    if (refusal !== undefined) return refusal;
    return { ok: true, lost: reply.values.texts(reply.values.number()), cancellations: reply.values.texts() };
  }

  async settle(
    { workerId, incarnationId }: WorkerFence,
    { callId, token }: Lease,
    settlement: Settlement | Pause,
  ): Promise<Settled> {
    const args = [incarnationId, callId, token, JSON.stringify(settlement)];
    if (settlement.status === 'paused') {
      const keptFor = String(this.#settings.pausedMs);
      const [reply] = await Promise.all([
        this.#scripts.run('pause', workerId, [...args, keptFor, toolCallIds(settlement.toolCalls)]),
        this.#whereabouts.prolong(callId),
      ]);
      return { accepted: reply.values.text() === '1' };
    }
    const { values } = await this.#scripts.run('settle', workerId, args);
    return { accepted: values.text() === '1', timing: readTiming(values) };
  }
}
