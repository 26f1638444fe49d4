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

/** The workspace that a programmatic call is for; its body has no place for it. */
export const workspaceIdHeader = 'x-librechat-code-workspace-id';

/** The lane of a programmatic call, where its base URL names none. */
export const worktreeHeader = 'x-codelanes-worktree';
export const repositoryHeader = 'x-codelanes-repository';

/** The caller's own name of one programmatic request, by which it can be cancelled. */
export const programmaticRequestHeader = 'x-librechat-code-request-id';

/** How long a call may wait in the queue, in milliseconds. */
export const queueWaitHeader = 'x-librechat-workspace-queue-wait-ms';

/** Names the request in the logs of bridge and worker; the reply always has it. */
export const requestIdHeader = 'x-request-id';

/** The trace that a call belongs to; source: W3C Trace Context. */
export const traceparentHeader = 'traceparent';

/** The caller's own name of a durable request. */
export const durableRequestHeader = 'x-librechat-workspace-request-id';

/** The execution profile that LibreChat expects behind its base URL, and in the reply the one that is there. */
export const expectedProfileHeader = 'x-codeapi-expected-profile';
export const profileHeader = 'x-codeapi-execution-profile';

/*
 * The proof of a paired worker's request, beside `Authorization: Bridge <credential>`.
 */

/** When it was signed, in milliseconds since 1970. */
export const proofTimeHeader = 'x-codelanes-time';

/** What makes it the only one of its kind: 24 random bytes in base64url. */
export const proofNonceHeader = 'x-codelanes-nonce';

/** Ed25519 over `proofText`, in base64url. */
export const proofSignatureHeader = 'x-codelanes-signature';
