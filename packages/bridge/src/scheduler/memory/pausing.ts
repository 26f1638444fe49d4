import { isDeepStrictEqual } from 'node:util';
import { resumeScriptRequestOf, type Pause, type ToolResult } from '@codelanes/protocol';
import { pausedScriptReasons, scriptStopped, toolCallIds } from '../paused-script.js';
import type { PausedCall, Resumed } from '../store.js';
import { isOutOfHands, type CallRecord } from './call-record.js';
import type { Memory } from './memory.js';
import { startWhatCan, toEnded, toPaused, toWaiting } from './moves.js';
import type { WorkerRecord } from './worker-record.js';

/** Takes the pause of a call that its worker has under a lease; `false` where nobody would let it go on. */
export function pause(memory: Memory, record: CallRecord, token: string, said: Pause): boolean {
  if (record.state.name === 'cancelling') {
    toEnded(memory, record, scriptStopped);
    return false;
  }
  if (record.operation !== 'run_script') return false;
  const at = memory.clock.now();
  toPaused(memory, record, {
    token,
    said,
    at,
    until: at + memory.settings.pausedMs,
    awayBeforeMs: record.awayMs,
  });
  return true;
}

/** Whether a call was paused by that very word of its worker. */
export function isSamePause({ pause: latest }: CallRecord, token: string, said: Pause): boolean {
  return latest?.token === token && isDeepStrictEqual(latest.said, said);
}

/** What a paused call waits for. */
export function viewPaused(memory: Memory, callId: string): PausedCall | undefined {
  const record = memory.calls.get(callId);
  if (record?.state.name !== 'paused' || record.pause === undefined) return undefined;
  const { worker, principal, pause: latest } = record;
  const { toolCalls, stdout } = latest.said;
  const pausedMs = Math.floor(memory.clock.now() - latest.at);
  return { callId, workerId: worker.workerId, principal, toolCalls, stdout, pausedMs };
}

/** Puts a paused call back to its place, with what its tools came to; see the contract. */
export function resume(memory: Memory, callId: string, results: readonly ToolResult[]): Resumed | undefined {
  const record = memory.calls.get(callId);
  if (record === undefined) return undefined;
  const { state, call, pause: latest } = record;
  if (state.name !== 'paused' || call === undefined || latest === undefined) return 'not_paused';
  if (toolCallIds(latest.said.toolCalls) !== toolCallIds(results)) return 'not_paused';
  record.call = { ...call, request: resumeScriptRequestOf(record.lane, results) };
  record.queuedAt = memory.clock.now();
  toWaiting(memory, record, false);
  startWhatCan(memory, record.worker);
  return 'resumed';
}

/** Ends a call on request whose script does not run; its worker is told to end what it keeps of it. */
export function stopPaused(memory: Memory, record: CallRecord): void {
  toEnded(memory, record, scriptStopped);
  tellToStop(memory, record);
}

/** Ends a call whose script does not run: it did before, so that nobody knows what came of it. */
export function interruptPaused(memory: Memory, record: CallRecord, reason: string): void {
  toEnded(memory, record, { how: 'interrupted', reason });
  tellToStop(memory, record);
}

/** Another start of the worker has none of the scripts that the earlier one kept. */
export function loseScripts(memory: Memory, worker: WorkerRecord): void {
  const reason = pausedScriptReasons.workerStartedAnew;
  for (const record of [...worker.pausedScripts]) {
    if (isOutOfHands(record)) toEnded(memory, record, { how: 'interrupted', reason });
  }
  for (const stop of worker.stops) memory.stops.remove(stop);
  worker.stops.clear();
}

/** No lease tells the worker of it, so that this is kept in mind for as long as a lease would be. */
function tellToStop(memory: Memory, { callId, worker }: CallRecord): void {
  const stop = { callId, worker, isTold: false };
  worker.stops.add(stop);
  memory.stops.begin(stop);
  memory.workerListeners.mark(worker.workerId);
}

/** Its worker does not keep a script for longer; one that it goes on with meanwhile answers by its lease. */
export function pauseEnded(memory: Memory, record: CallRecord): void {
  if (!isOutOfHands(record)) return;
  interruptPaused(memory, record, pausedScriptReasons.tooLong);
  startWhatCan(memory, record.worker);
}
