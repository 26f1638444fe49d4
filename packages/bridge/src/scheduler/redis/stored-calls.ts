import { callStateSchema, type CallState, type ToolResult } from '@codelanes/protocol';
import { z } from 'zod';
import { toolCallIds } from '../paused-script.js';
import type { CallEnd, OwnedCallView, PausedCall, Resumed, Withdrawn, WithdrawReason } from '../store.js';
import type { BridgeName } from './bridge-name.js';
import { readCallEnd } from './call-end.js';
import type { CallWhereabouts } from './call-whereabouts.js';
import type { RedisProcesses } from './redis-processes.js';
import type { ReplyReader } from './reply-reader.js';
import type { ScriptName } from './script-runner.js';
import { readCall, readPaused, readReason } from './views.js';
import type { WorkerScripts } from './worker-scripts.js';

interface Parts {
  readonly scripts: WorkerScripts;
  readonly name: BridgeName;
  readonly whereabouts: CallWhereabouts;
  readonly processes: RedisProcesses;
}

/** What is asked of one call by whoever knows its id, and perhaps nothing else. */
export class StoredCalls {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async withdraw(callId: string, why: WithdrawReason): Promise<Withdrawn> {
    const told = await this.#ask('withdraw', callId, why);
    if (told === undefined) return { withdrawn: false, state: undefined };
    const { workerId, values } = told;
    if (values.text() === '0') return { withdrawn: false, state: stateOf(values.text()) };
    const lostSeconds = this.#parts.processes.lostSecondsOf(workerId);
    lostSeconds.withdrawn(workerId, callId);
    if (lostSeconds.mayHaveRun(callId)) return { withdrawn: false, state: 'interrupted' };
    const waitedMs = values.number();
    const waitedFor = readReason(values, { principal: values.text() });
    return { withdrawn: true, waitedFor, waitedMs };
  }

  async cancel(callId: string): Promise<CallState | undefined> {
    const told = await this.#ask('cancel', callId);
    if (told === undefined) return undefined;
    const { workerId, values } = told;
    const state = stateOf(values.text());
    if (state === 'withdrawn') this.#parts.processes.lostSecondsOf(workerId).withdrawn(workerId, callId);
    return state;
  }

  async paused(callId: string): Promise<PausedCall | undefined> {
    const told = await this.#ask('paused', callId);
    return told && readPaused(told.workerId, callId, told.values);
  }

  async resume(callId: string, results: readonly ToolResult[]): Promise<Resumed | undefined> {
    const attempt = this.#parts.name.nextAttempt();
    const told = await this.#ask('resume', callId, JSON.stringify(results), attempt, toolCallIds(results));
    const answer = told?.values.text() ?? '';
    return answer === '' ? undefined : resumedSchema.parse(answer);
  }

  async end(callId: string): Promise<CallEnd | undefined> {
    const told = await this.#ask('end', callId);
    const stored = told?.values.text() ?? '';
    if (told === undefined || stored === '') return undefined;
    const { workerId } = told;
    return this.#parts.processes.lostSecondsOf(workerId).endOf(workerId, callId, readCallEnd(stored));
  }

  async call(callId: string): Promise<OwnedCallView | undefined> {
    const told = await this.#ask('call', callId);
    return told && readCall(told.workerId, callId, told.values);
  }

  /** What the script says of the call at its worker; `undefined` where nobody knows of which worker it is. */
  async #ask(script: ScriptName, callId: string, ...args: readonly string[]): Promise<Told | undefined> {
    const { scripts, whereabouts } = this.#parts;
    const workerId = await whereabouts.workerOf(callId);
    if (workerId === undefined) return undefined;
    const { values } = await scripts.run(script, workerId, [callId, ...args]);
    return { workerId, values };
  }
}

interface Told {
  readonly workerId: string;
  readonly values: ReplyReader;
}

const resumedSchema = z.enum(['resumed', 'not_paused'] as const satisfies readonly Resumed[]);

function stateOf(text: string): CallState | undefined {
  return text === '' ? undefined : callStateSchema.parse(text);
}
