/*
 * Headers by which callers say what stands in no body, in lower case as Node spells them. Those of LibreChat's
 * own client keep its names.
 */

/** By its only value, `1`, a client of Codelanes says that it is one. */
export const clientHeader = 'x-codelanes-client';

/** Here a caller may propose the id of its call; the reply always names it. */
export const callIdHeader = 'x-codelanes-call-id';

/** The worker that a call is for. */
export const workerIdHeader = 'x-librechat-code-worker-id';

/** How long a call may wait in the queue, in milliseconds. */
export const queueWaitHeader = 'x-librechat-workspace-queue-wait-ms';

/** Names the request in the logs of bridge and worker; the reply always has it. */
export const requestIdHeader = 'x-request-id';

/** The trace that a call belongs to; source: W3C Trace Context. */
export const traceparentHeader = 'traceparent';

/** The caller's own name of a durable request. */
export const durableRequestHeader = 'x-librechat-workspace-request-id';
