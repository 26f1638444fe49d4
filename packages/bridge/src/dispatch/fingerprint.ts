import { createHash } from 'node:crypto';
import type { RunScriptRequest, WorkspaceToolRequest } from '@codelanes/protocol';

/**
 * What makes a retry identical: SHA-256 of the parsed request as canonical JSON (keys sorted at every depth),
 * so that neither the order of keys nor white space of the body matters.
 */
export function fingerprintOf(request: WorkspaceToolRequest | RunScriptRequest): string {
  return digestOf(request);
}

/** What makes two durable requests the same work: the parsed request, the worker that it is for, and its budget. */
export function fingerprintOfWork(work: {
  readonly workerId: string;
  readonly queueWaitMs: number;
  readonly request: WorkspaceToolRequest;
}): string {
  return digestOf(work);
}

/**
 * The call id of a durable request whose caller proposes none. A request that Redis lost is the same call when it is
 * sent again, so that the worker's journal knows whether it has started.
 */
export function callIdOfWork(work: {
  readonly principal: string;
  readonly requestId: string;
  /** As `fingerprintOfWork` says. */
  readonly fingerprint: string;
}): string {
  return digestOf(work).slice(0, 32);
}

function digestOf(value: object): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** JSON with the keys of every object in code-unit order; keys without a value are left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
