import type { CallState, WaitingReason, WorkspaceToolRequest } from '@codelanes/protocol';
import type { CallEnd, SubmissionRefused } from './store.js';
import type { NewToolCall } from './stored-call.js';

/**
 * The contract of durable requests: calls that outlive whoever submitted them. A store that keeps nothing beyond
 * its process offers none.
 *
 * A request is known by its principal and the id that the principal gave it. It stands for one call of the
 * scheduler, which waits, starts and ends by the same rule as any other, with three differences: it does not leave
 * the queue when the bridge that took it in dies or its caller goes away; its queue deadline is kept by the store
 * itself, whichever bridge is alive (at the latest when somebody asks for it); and how it ended is kept for 24
 * hours. One that leaves the queue is `interrupted`, not withdrawn, where the store may have lost meanwhile, or
 * shortly before it came, that it ran. Every bridge of the store can submit, see and cancel every request.
 */
export interface DurableRequests {
  /**
   * Takes a request in, once: repeated with the same id and fingerprint it changes nothing and tells how the first
   * one stands. A worker that is offline keeps it waiting until its deadline. Refused: `REQUEST_CONFLICT` (the id
   * stands for other work), `WORKER_QUEUE_FULL` (the queue, the principal's share of it, or as many requests kept
   * for the principal as may be, none of which has ended), `WORKER_OFFLINE` (it never registered). Of ended
   * requests beyond that bound the oldest is forgotten. Refused as outdated as `SchedulerStore.submit` does, unless it
   * was taken in before.
   */
  submit(request: NewDurableRequest): Promise<SubmittedRequest | SubmissionRefused>;

  /** How a request stands; looking consumes nothing. Other principals' requests are unknown. */
  view(principal: string, requestId: string): Promise<DurableView | undefined>;

  /** Asks for an end, as `SchedulerStore.cancel` does: no proof that it stopped. Tells how it stands then. */
  cancel(principal: string, requestId: string): Promise<DurableView | undefined>;
}

export interface NewDurableRequest {
  readonly requestId: string;
  /** Digest of all that makes the work what it is: the request, its worker and its budget in the queue. */
  readonly fingerprint: string;
  readonly queueWaitMs: number;
  readonly call: NewToolCall;
}

export interface SubmittedRequest {
  readonly ok: true;
  readonly view: DurableView;
}

export interface DurableView {
  readonly requestId: string;
  readonly callId: string;
  readonly workerId: string;
  readonly queueWaitMs: number;
  readonly request: WorkspaceToolRequest;
  readonly pathPrefix?: string | undefined;
  readonly stands:
    | {
        readonly state: Extract<CallState, 'waiting'>;
        /** Milliseconds since it began to wait, or came back to its place. */
        readonly sinceMs: number;
        readonly waiting: WaitingReason;
      }
    | { readonly state: Extract<CallState, 'reserved' | 'delivered' | 'running' | 'cancelling'> }
    | { readonly state: 'ended'; readonly end: CallEnd };
}

/** How long the end of a durable request is kept, in milliseconds. */
export const durableEndKeptMs = 24 * 3_600_000;

/** Requests that are kept for one principal at one worker. */
export const durableRequestsKept = 1_000;
