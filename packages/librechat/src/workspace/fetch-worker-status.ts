import { clientHeader, workerStatusSchema, type WorkerStatus } from '@codelanes/protocol';
import { nodeFetch, type HttpFetch } from '../client/http-fetch.js';
import { jsonObject } from '../client/json-object.js';
import { textWithin } from '../client/reply-body.js';

const statusBytes = 256 * 1024;
const statusMs = 10_000;

/** Why there is no status; names and meanings are LibreChat's. */
export class WorkerStatusError extends Error {
  override readonly name = 'WorkerStatusError';
  readonly reason: 'rejected' | 'invalid' | 'timeout' | 'failed';
  readonly upstreamStatus: number | undefined;

  constructor(reason: WorkerStatusError['reason'], upstreamStatus?: number) {
    super(
      `The status of the worker could not be had: ${reason}${upstreamStatus === undefined ? '' : ` (${upstreamStatus})`}.`,
    );
    this.reason = reason;
    this.upstreamStatus = upstreamStatus;
  }
}

export interface FetchWorkerStatusOptions {
  /** Up to and with `/v1`. */
  readonly baseURL: string;
  /** The token for the status, which is the administrator's or the caller's. */
  readonly token: string;
  readonly workerId: string;
  readonly fetchImpl?: HttpFetch | undefined;
}

/**
 * What a worker offers now, as a client that knows all that Codelanes says; within 10 s and 256 KiB.
 *
 * @throws WorkerStatusError
 */
export async function fetchWorkerStatus(options: FetchWorkerStatusOptions): Promise<WorkerStatus> {
  const { workerId } = options;
  const text = await statusText(options).catch((error: unknown) => {
    if (error instanceof WorkerStatusError) throw error;
    throw new WorkerStatusError(
      error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'failed',
    );
  });
  const status = workerStatusSchema.safeParse(jsonObject(text ?? '')).data;
  if (status?.workerId !== workerId || (status.ready && !status.online))
    throw new WorkerStatusError('invalid');
  return status;
}

async function statusText({
  baseURL,
  token,
  workerId,
  fetchImpl = nodeFetch,
}: FetchWorkerStatusOptions): Promise<string | undefined> {
  const base = baseURL.trim().replace(/\/+$/, '');
  const reply = await fetchImpl(`${base}/bridge/workers/${encodeURIComponent(workerId)}/status`, {
    method: 'GET',
    headers: { authorization: `Bearer ${token}`, [clientHeader]: '1' },
    redirect: 'error',
    signal: AbortSignal.timeout(statusMs),
  });
  if (reply.ok) return textWithin(reply, statusBytes);
  await reply.body?.cancel();
  throw new WorkerStatusError('rejected', reply.status);
}
