import {
  callStateSchema,
  operationSchema,
  quarantinedLanesSchema,
  type Blocker,
  type CallView,
  type LanesView,
  type Operation,
  type WaitingReason,
} from '@codelanes/protocol';
import { z } from 'zod';
import type { CallTiming, OwnedCallView, WorkerLoad } from '../store.js';
import { ReplyReader } from './reply-reader.js';
import { laneOfPath, modeOfLetter, poolOfLetter, textOfStored } from './stored-text.js';

const lackingSchema = z.enum(['slots', 'files', 'repository']);
const blockerStateSchema = z.enum(['running', 'waiting']);
const occupyingSchema = z.enum(['reserved', 'delivered', 'running', 'cancelling']);

/** Who looks: the principal of the call, or an administrator, who may see everybody's calls. */
export type Viewer = { readonly principal: string } | 'administrator';

/** Reads why a call waits; a caller learns only lane and age of what belongs to others. */
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
  const operation = readOperation(values);
  const open = viewer === 'administrator' || viewer.principal === principal;
  return { lane, ageMs, state, ...(open ? { callId, ...operation } : {}) };
}

function readOperation(values: ReplyReader): { readonly operation?: Operation } {
  const operation = values.text();
  return operation === '' ? {} : { operation: operationSchema.parse(operation) };
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
  return { running: { command: values.number(), file: values.number() }, waiting: values.number() };
}

/** Reads what the script `settle` tells of a call that it ended. */
export function readTiming(values: ReplyReader): CallTiming | undefined {
  if (values.isAtEnd()) return undefined;
  const operation = operationSchema.parse(values.text());
  return { operation, queuedMs: values.number(), totalMs: values.number() };
}

/** Reads the answer of the script `lanes`; `undefined` where the worker is unknown. */
export function readLanes(workerId: string, values: ReplyReader): LanesView | undefined {
  if (values.isAtEnd()) return undefined;
  const online = values.number() > 0;
  const slots = { used: values.number(), of: values.number() };
  const files = { used: values.number(), of: values.number() };
  const quarantined = readQuarantined(values);
  const running: LanesView['running'] = [];
  const waiting: LanesView['waiting'] = [];
  while (!values.isAtEnd()) {
    const told = new ReplyReader(values.texts(values.number()));
    const { state, call } = readListed(told);
    if (state === 'waiting') waiting.push({ ...call, waiting: readReason(told, 'administrator') });
    else running.push({ ...call, state: occupyingSchema.parse(state) });
  }
  return { workerId, online, slots, files, running, waiting, quarantined };
}

/** Ages are as the worker told them, and have grown since. */
function readQuarantined(values: ReplyReader): LanesView['quarantined'] {
  const told = quarantinedLanesSchema.parse(JSON.parse(values.text()));
  const ageMs = values.number();
  return told.map((closed) => ({ ...closed, sinceMs: closed.sinceMs + ageMs }));
}

function readListed(values: ReplyReader) {
  const callId = values.text();
  const state = callStateSchema.parse(values.text());
  const lane = laneOfPath(values.text());
  const mode = modeOfLetter(values.text());
  const pool = poolOfLetter(values.text());
  if (pool === 'none') throw new Error(`call ${callId} is listed, but takes no lane`);
  const operation = readOperation(values);
  const principal = textOfStored(values.text());
  return { state, call: { callId, lane, mode, pool, ...operation, principal, sinceMs: values.number() } };
}
