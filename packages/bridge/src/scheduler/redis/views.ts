import {
  callStateSchema,
  callOperationSchema,
  closedLanesSchema,
  type Blocker,
  pauseSchema,
  type CallOperation,
  type CallView,
  type LanesView,
  type WaitingReason,
} from '@codelanes/protocol';
import { z } from 'zod';
import { closedLanesView } from '../closed-lanes.js';
import type { CallCount, CallTiming, OwnedCallView, PausedCall, WorkerLoad } from '../store.js';
import { ReplyReader } from './reply-reader.js';
import { laneOfPath, modeOfLetter, operationOfStored, poolOfLetter, textOfStored } from './stored-text.js';

const lackingSchema = z.enum(['slots', 'files', 'repository']);
const blockerStateSchema = z.enum(['running', 'waiting']);
const occupyingSchema = z.enum(['reserved', 'delivered', 'running', 'cancelling']);

/** Who looks: the principal of the call, or an administrator, who may see everybody's calls. */
export type Viewer = { readonly principal: string } | 'administrator';

/** Reads why a call waits; a caller learns only lane and age of what belongs to others, if it is no setup. */
export function readReason(values: ReplyReader, viewer: Viewer): WaitingReason {
  const position = values.number();
  const lacking = values.text();
  const blockers: Blocker[] = [];
  while (!values.isAtEnd()) blockers.push(readBlocker(values, viewer));
  return { blockers, ...(lacking === '' ? {} : { lacking: lackingSchema.parse(lacking) }), position };
}

function readBlocker(values: ReplyReader, viewer: Viewer): Blocker {
  const callId = values.text();
  const lane = laneOfPath(values.text());
  const state = blockerStateSchema.parse(values.text());
  const ageMs = values.number();
  const principal = values.text();
  const work = readWork(values);
  const open = viewer === 'administrator' || viewer.principal === principal;
  return {
    lane,
    ageMs,
    state,
    ...(open ? { callId } : {}),
    ...(open || work.operation === 'setup' ? work : {}),
  };
}

/** What a call does and, of a setup, how long it may run. */
function readWork(values: ReplyReader): { readonly operation?: CallOperation; readonly boundMs?: number } {
  const operation = values.text();
  const boundMs = values.text();
  return {
    ...(operation === '' ? {} : { operation: callOperationSchema.parse(operation) }),
    ...(boundMs === '' ? {} : { boundMs: Number(boundMs) }),
  };
}

/** Reads the answer of the script `call`; `undefined` where the call is unknown. */
export function readCall(workerId: string, callId: string, values: ReplyReader): OwnedCallView | undefined {
  if (values.isAtEnd()) return undefined;
  const principal = values.text();
  const state = callStateSchema.parse(values.text());
  const lane = laneOfPath(values.text());
  const sinceMs = values.number();
  const revision = values.number();
  const view: CallView = {
    callId,
    state,
    lane,
    sinceMs,
    revision,
    ...(state === 'waiting' ? { waiting: readReason(values, { principal }) } : {}),
  };
  return { workerId, principal: textOfStored(principal), view };
}

/** Reads the answer of the script `load`; `undefined` where the worker is unknown. */
export function readLoad(values: ReplyReader): WorkerLoad | undefined {
  if (values.isAtEnd()) return undefined;
  values.text();
  const running: WorkerLoad['running'][number][] = [];
  const waiting: CallCount[] = [];
  while (!values.isAtEnd()) {
    const kind = values.text();
    const operation = operationOfStored(values.text());
    const count = { operation, calls: values.number() };
    if (kind === 'w') waiting.push(count);
    else running.push({ ...count, pool: kind === 'c' ? 'command' : 'file' });
  }
  return { running, waiting };
}

/** Reads the answer of the script `paused`; `undefined` where the call is not. */
export function readPaused(workerId: string, callId: string, values: ReplyReader): PausedCall | undefined {
  if (values.isAtEnd()) return undefined;
  const principal = textOfStored(values.text());
  const pausedMs = values.number();
  const { toolCalls, stdout } = pauseSchema.parse(JSON.parse(values.text()));
  return { callId, workerId, principal, toolCalls, stdout, pausedMs };
}

/** Reads what the script `settle` tells of a call that it ended. */
export function readTiming(values: ReplyReader): CallTiming | undefined {
  if (values.isAtEnd()) return undefined;
  const operation = callOperationSchema.parse(values.text());
  const [queuedMs, totalMs] = [values.number(), values.number()];
  return { operation, queuedMs, totalMs, wasPaused: values.text() === '1' };
}

/** Reads the answer of the script `lanes`; `undefined` where the worker is unknown. */
export function readLanes(workerId: string, values: ReplyReader): LanesView | undefined {
  if (values.isAtEnd()) return undefined;
  const online = values.number() > 0;
  const slots = { used: values.number(), of: values.number() };
  const files = { used: values.number(), of: values.number() };
  const closed = closedLanesView(closedLanesSchema.parse(JSON.parse(values.text())), values.number());
  const running: LanesView['running'] = [];
  const waiting: LanesView['waiting'] = [];
  const paused: LanesView['paused'] = [];
  while (!values.isAtEnd()) {
    const told = new ReplyReader(values.texts(values.number()));
    const { state, call } = readListed(told);
    if (state === 'waiting') waiting.push({ ...call, waiting: readReason(told, 'administrator') });
    else if (state === 'paused') paused.push(call);
    else running.push({ ...call, state: occupyingSchema.parse(state) });
  }
  return { workerId, online, slots, files, running, waiting, paused, ...closed };
}

function readListed(values: ReplyReader) {
  const callId = values.text();
  const state = callStateSchema.parse(values.text());
  const lane = laneOfPath(values.text());
  const mode = modeOfLetter(values.text());
  const pool = poolOfLetter(values.text());
  if (pool === 'none') throw new Error(`call ${callId} is listed, but takes no lane`);
  const work = readWork(values);
  const principal = textOfStored(values.text());
  return { state, call: { callId, lane, mode, pool, ...work, principal, sinceMs: values.number() } };
}
