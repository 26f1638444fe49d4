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
