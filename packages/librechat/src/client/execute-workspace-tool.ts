import {
  limits,
  queueWaitHeader,
  resultFault,
  workspaceToolRequestSchema,
  workspaceToolResultSchema,
  type WorkspaceToolRequest,
  type WorkspaceToolResult,
} from '@codelanes/protocol';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromLaneResult } from '../routing/from-lane-result.js';
import type { AdvertisedLanes } from '../routing/lane-locator.js';
import { toLaneRequest } from '../routing/to-lane-request.js';
import { admissionRefusalOf, retryDelayMs } from './admission-refusal.js';
import { nodeFetch, type HttpFetch, type HttpReply } from './http-fetch.js';
import { jsonObject } from './json-object.js';
import { errorTextOf, textWithin } from './reply-body.js';
import { TimeBudget } from './time-budget.js';
import { WorkspaceToolHttpError } from './workspace-tool-http-error.js';

/** Headers with the caller's credentials; a function is asked anew for every attempt, as tokens live shortly. */
export type WorkspaceToolAuthHeaders =
  | Readonly<Record<string, string>>
  | (() => Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>);

/** The options of LibreChat's function of that name, and `lanes`. */
export interface ExecuteWorkspaceToolOptions {
  /** Up to and with `/v1`. */
  readonly baseURL: string;
  readonly authHeaders: WorkspaceToolAuthHeaders;
  readonly request: WorkspaceToolRequest;
  readonly signal?: AbortSignal | undefined;
  readonly fetchImpl?: HttpFetch | undefined;
  /** How long a call is repeated while the workspace is busy; at most, and by default, 300,000. */
  readonly maxQueueWaitMs?: number | undefined;
  /** How long all waiting for the rate limit may take; 20,000 by default, at most 300,000. */
  readonly codeApiMaxRetryWaitMs?: number | undefined;
  /** The time for all attempts together. */
  readonly maxRequestTimeoutMs?: number | undefined;
  /** When the caller has no more use for a result, as `Date.now()` counts. */
  readonly deadlineAtMs?: number | undefined;
  /** Whether the worktrees of the workspace's root are lanes; `lanes` says more. */
  readonly linkedWorktrees?: boolean | undefined;
  /** The lanes that calls are routed into by their paths; see `resolveWorkspace`. */
  readonly lanes?: AdvertisedLanes | undefined;
}

const worktreesOfRoot: AdvertisedLanes = { repositories: [], worktrees: [''] };
const rateLimitWaitMs = 20_000;

/**
 * Sends one workspace tool call and gives back its result, with the paths that the caller knows. A call is repeated
 * after the two refusals that prove that nothing was started, and after nothing else. A result is one only if every
 * rule of the protocol holds for it.
 *
 * @throws WorkspaceToolHttpError, or the signal's reason where the caller aborted.
 */
export async function executeWorkspaceTool(
  options: ExecuteWorkspaceToolOptions,
): Promise<WorkspaceToolResult> {
  const { signal, lanes = options.linkedWorktrees === true ? worktreesOfRoot : undefined } = options;
  assertWaits(options);
  const request = workspaceToolRequestSchema.safeParse(options.request).data;
  if (request === undefined) throw new WorkspaceToolHttpError('invalid');
  const routing = lanes === undefined ? { request } : toLaneRequest(request, lanes);
  try {
    const result = await untilAdmitted(routing.request, options);
    return 'prefix' in routing ? fromLaneResult(result, routing.prefix) : result;
  } catch (error) {
    if (error instanceof WorkspaceToolHttpError) throw error;
    if (signal?.aborted === true) throw signal.reason;
    const timedOut = error instanceof Error && error.name === 'TimeoutError';
    throw new WorkspaceToolHttpError(timedOut ? 'timeout' : 'failed');
  }
}

/** Sends attempts until one is not refused for want of room. */
async function untilAdmitted(
  request: WorkspaceToolRequest,
  options: ExecuteWorkspaceToolOptions,
): Promise<WorkspaceToolResult> {
  const { signal, maxQueueWaitMs = limits.queueWaitMs, codeApiMaxRetryWaitMs = rateLimitWaitMs } = options;
  const budget = new TimeBudget(request, options);
  const queueUntil = Date.now() + maxQueueWaitMs;
  let rateLimitLeftMs = codeApiMaxRetryWaitMs;
  let refused: WorkspaceToolHttpError | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const outcome = await attempt(request, options, budget).catch((error: unknown) => {
      // That the workspace is busy says more than that the time is over.
      throw isInsufficientTime(error) ? (refused ?? error) : error;
    });
    if (!('refusal' in outcome)) return outcome.result;
    const { refusal, error, delayMs } = outcome;
    refused = error;
    const until = Math.min(refusal === 'queue_timeout' ? queueUntil : Infinity, budget.lastBeginAt);
    if (refusal === 'rate_limited' && delayMs > rateLimitLeftMs) throw error;
    // A wait that ends with the time itself leaves none to be admitted in.
    if (Date.now() + delayMs >= until) throw error;
    await sleep(delayMs, undefined, { signal });
    if (refusal === 'rate_limited') rateLimitLeftMs -= delayMs;
    if (Date.now() >= until) throw error;
  }
}

function isInsufficientTime(error: unknown): boolean {
  return error instanceof WorkspaceToolHttpError && error.reason === 'insufficient_time';
}

type AttemptOutcome =
  | { readonly result: WorkspaceToolResult }
  | {
      readonly refusal: 'queue_timeout' | 'rate_limited';
      readonly delayMs: number;
      readonly error: WorkspaceToolHttpError;
    };

async function attempt(
  request: WorkspaceToolRequest,
  { baseURL, authHeaders, signal, fetchImpl = nodeFetch }: ExecuteWorkspaceToolOptions,
  budget: TimeBudget,
): Promise<AttemptOutcome> {
  const { timeoutMs, queueWaitMs } = budget.attempt();
  const began = Date.now();
  const ended = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]);
  const headers = await headersOf(authHeaders, ended, signal);
  // The time that a token took is the queue's, and never that of the call itself.
  const waitMs = queueWaitMs - (Date.now() - began);
  if (waitMs < 1) throw new WorkspaceToolHttpError('insufficient_time');
  const reply = await fetchImpl(`${baseURL.trim().replace(/\/+$/, '')}/workspace-tools/execute`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', [queueWaitHeader]: String(waitMs) },
    body: JSON.stringify(request),
    redirect: 'error',
    signal: ended,
  });
  if (reply.ok) return { result: await resultOf(request, reply) };
  const { body, truncated } = await errorTextOf(reply, ended);
  signal?.throwIfAborted();
  const error = new WorkspaceToolHttpError('rejected', reply.status, body, truncated);
  const refusal = admissionRefusalOf(reply.status, body, truncated);
  if (refusal === undefined) throw error;
  return { refusal, error, delayMs: retryDelayMs(reply.headers.get('retry-after'), refusal, body) };
}

/** @throws WorkspaceToolHttpError `invalid` where the reply cannot be the result of the request. */
async function resultOf(request: WorkspaceToolRequest, reply: HttpReply): Promise<WorkspaceToolResult> {
  const text = await textWithin(reply, limits.resultBodyBytes);
  const result = workspaceToolResultSchema.safeParse(jsonObject(text ?? '')).data;
  if (result === undefined || resultFault(request, result) !== undefined) {
    throw new WorkspaceToolHttpError('invalid');
  }
  return result;
}

/** Nothing is sent yet: a token that does not come in time is no call whose outcome is unknown. */
async function headersOf(
  given: WorkspaceToolAuthHeaders,
  ended: AbortSignal,
  signal: AbortSignal | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (typeof given !== 'function') return given;
  const { promise: aborted, stop } = abortOf(ended);
  try {
    return await Promise.race([given(), aborted]);
  } catch (error) {
    if (ended.aborted && signal?.aborted !== true) throw new WorkspaceToolHttpError('insufficient_time');
    throw error;
  } finally {
    stop();
  }
}

function abortOf(signal: AbortSignal): { readonly promise: Promise<never>; readonly stop: () => void } {
  let stop = (): void => undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    const abort = () => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- whatever the caller aborted with
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    stop = () => {
      signal.removeEventListener('abort', abort);
    };
  });
  return { promise, stop };
}

/** @throws WorkspaceToolHttpError `invalid` where a wait or a deadline is none. */
function assertWaits({
  maxQueueWaitMs = 0,
  codeApiMaxRetryWaitMs = 0,
  maxRequestTimeoutMs = 1,
  deadlineAtMs = 1,
}: ExecuteWorkspaceToolOptions): void {
  const good =
    isWholeWithin(maxQueueWaitMs, 0, limits.queueWaitMs) &&
    isWholeWithin(codeApiMaxRetryWaitMs, 0, limits.queueWaitMs) &&
    isWholeWithin(maxRequestTimeoutMs, 1, Number.MAX_SAFE_INTEGER) &&
    isWholeWithin(deadlineAtMs, 1, Number.MAX_SAFE_INTEGER);
  if (!good) throw new WorkspaceToolHttpError('invalid');
}

function isWholeWithin(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}
