import type {
  ClientGeneration,
  DurableState,
  DurableStatus,
  WaitingReason,
  WireError,
} from '@codelanes/protocol';
import { CodelanesError, errorFor } from '@codelanes/protocol';
import type { DurableView } from '../scheduler/durable-requests.js';
import type { LaneRouting } from './lane-routing.js';
import { resultOf } from './outcome.js';

/**
 * A durable request in LibreChat's words: `queued` while it waits, `admitted` from its reservation until its end,
 * then `completed` with the result, `cancelled` where it was stopped on request, or `failed` with a code;
 * `ASSIGNMENT_EXPIRED` is an unknown outcome.
 */
export function durableStatusOf(
  view: DurableView,
  generation: ClientGeneration,
  routing: Pick<LaneRouting, 'shownResult'>,
): DurableStatus {
  const { requestId, workerId, queueWaitMs, request, pathPrefix, stands } = view;
  const waitingFor = generation === 'own' ? waitingReasonOf(stands) : undefined;
  const { workspaceId, workspaceInstanceId, worktree } = request;
  const known = {
    requestId,
    workerId,
    workspaceId,
    ...(workspaceInstanceId === undefined ? {} : { workspaceInstanceId }),
    // A client that does not know lanes is told what it sent.
    ...(worktree === undefined || (pathPrefix !== undefined && generation !== 'own') ? {} : { worktree }),
    queueWaitMs,
    cancelRequested: cancelRequested(view),
    ...(waitingFor === undefined ? {} : { waitingFor }),
  };
  switch (stands.state) {
    case 'waiting':
      return {
        ...known,
        state: 'queued',
        queuePosition: stands.waiting.position,
        ...(generation === 'own' ? { sinceMs: stands.sinceMs } : {}),
      };
    case 'reserved':
    case 'delivered':
    case 'running':
    case 'cancelling':
      return { ...known, state: 'admitted' };
    case 'ended':
      return { ...known, ...endOf(view, generation, routing) };
  }
}

/** What it waits for or, where its time in the queue was over first, waited for. */
function waitingReasonOf(stands: DurableView['stands']): WaitingReason | undefined {
  if (stands.state === 'waiting') return stands.waiting;
  return stands.state === 'ended' && stands.end.how === 'withdrawn'
    ? stands.end.waited?.waitedFor
    : undefined;
}

function cancelRequested({ stands }: DurableView): boolean {
  if (stands.state !== 'ended') return stands.state === 'cancelling';
  const { end } = stands;
  return end.how === 'withdrawn' ? end.why === 'cancelled' : end.how === 'settled' && end.cancelled;
}

type Ending = Pick<DurableStatus, 'result' | 'error'> & {
  readonly state: Exclude<DurableState, 'queued' | 'admitted'>;
};

function endOf(
  { callId, request, pathPrefix, stands }: DurableView,
  generation: ClientGeneration,
  routing: Pick<LaneRouting, 'shownResult'>,
): Ending {
  if (stands.state !== 'ended') throw new Error(`call ${callId} has not ended`);
  const { end } = stands;
  try {
    const result = routing.shownResult(resultOf({ request }, end), { generation, pathPrefix });
    return { state: 'completed', result };
  } catch (error) {
    if (!CodelanesError.is(error)) throw error;
    const told = errorFor(generation, { code: error.code, message: error.message });
    return { state: isCancelled(end, told) ? 'cancelled' : 'failed', error: told };
  }
}

/** What was stopped on request and says so; another refusal that came first stays what it is. */
function isCancelled(end: EndedView['end'], { code }: WireError): boolean {
  if (end.how === 'withdrawn') return end.why === 'cancelled';
  return end.how === 'settled' && end.cancelled && code === 'EXECUTION_ABORTED';
}

type EndedView = Extract<DurableView['stands'], { readonly state: 'ended' }>;
