import { callStateSchema, isWorkspaceToolRequest } from '@codelanes/protocol';
import type { DurableView } from '../../durable-requests.js';
import { readCallEnd } from '../call-end.js';
import { readBody } from '../deliveries.js';
import type { ReplyReader } from '../reply-reader.js';
import { readReason } from '../views.js';

export interface RequestName {
  readonly requestId: string;
  readonly workerId: string;
  /** As Redis has it. */
  readonly principal: string;
}

/** Reads what the scripts of durable requests tell; `undefined` where the request is unknown. */
export function readRequest(
  { requestId, workerId, principal }: RequestName,
  values: ReplyReader,
): DurableView | undefined {
  if (values.isAtEnd()) return undefined;
  const callId = values.text();
  const queueWaitMs = values.number();
  const { request, pathPrefix } = readBody(values.text());
  if (!isWorkspaceToolRequest(request)) throw new Error(`request ${requestId} is no tool`);
  const stands = readStanding(principal, values);
  return { requestId, callId, workerId, queueWaitMs, request, pathPrefix, stands };
}

function readStanding(principal: string, values: ReplyReader): DurableView['stands'] {
  const state = callStateSchema.parse(values.text());
  switch (state) {
    case 'waiting':
      return { state, sinceMs: values.number(), waiting: readReason(values, { principal }) };
    case 'reserved':
    case 'delivered':
    case 'running':
    case 'cancelling':
      return { state };
    case 'paused':
      throw new Error('a durable request is never a script');
    case 'settled':
    case 'withdrawn':
    case 'interrupted':
      return { state: 'ended', end: readCallEnd(values.text(), { principal }) };
  }
}
