import {
  callViewSchema,
  cancelReplySchema,
  callIdHeader,
  clientHeader,
  queueWaitHeader,
  workerIdHeader,
  errorCodeSchema,
  isUntrusted,
  lanesViewSchema,
  pairingReplySchema,
  revokeReplySchema,
  workerStatusSchema,
  workspaceToolResultSchema,
} from '@codelanes/protocol';
import type {
  Binding,
  CallView,
  CancelReply,
  LanesView,
  PairingReply,
  RevokeReply,
  ShownWorkspace,
  WorkspaceToolRequest,
  WorkspaceToolResult,
} from '@codelanes/protocol';
import { Agent, request as httpRequest } from 'undici';
import { z } from 'zod';
import type { Endpoint } from '../connection/endpoint.js';
import { CliError } from '../errors/cli-error.js';
import { NoAnswer, Refusal } from './failures.js';

const refusalSchema = z
  .object({
    code: errorCodeSchema,
    error: z.string(),
    /** The sentence, where `error` has to be the word that LibreChat knows. */
    message: z.string().optional(),
    waitedFor: callViewSchema.shape.waiting.catch(undefined),
    retry_after_seconds: z.number().optional(),
  })
  .transform(({ code, error, message, waitedFor, retry_after_seconds: seconds }) => {
    return { code, message: message ?? error, waitedFor, retryAfterMs: seconds && seconds * 1000 };
  });

const workersSchema = z.object({ workers: z.array(z.string()) });

/** Failures of a connection that was never made: the bridge cannot have seen the request. */
const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export interface ExecuteOptions {
  readonly workerId: string;
  readonly callId: string;
  readonly queueWaitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The caller's and the administrator's requests. Rejects with `Refusal` where the bridge answered with an
 * error, with `NoAnswer` where none came, and with the reason of an abort.
 */
export class BridgeClient {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  /** A call may wait and run for longer than any default of the HTTP client. */
  readonly #agent: Agent;

  constructor(endpoint: Pick<Endpoint, 'url' | 'token' | 'authority'>) {
    const { authority } = endpoint;
    const connect = authority === undefined ? {} : { ca: authority };
    this.#agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect });
    this.#base = endpoint.url;
    this.#headers = { authorization: `Bearer ${endpoint.token}`, [clientHeader]: '1' };
  }

  /** Resolves when the call has ended; aborting the signal takes it back or has it stopped. */
  execute(call: WorkspaceToolRequest, options: ExecuteOptions): Promise<WorkspaceToolResult> {
    return this.#send('POST', '/v1/workspace-tools/execute', workspaceToolResultSchema, {
      body: call,
      headers: {
        [workerIdHeader]: options.workerId,
        [queueWaitHeader]: String(options.queueWaitMs),
        [callIdHeader]: options.callId,
      },
      signal: options.signal,
    });
  }

  /** An own call as soon as it differs from what was seen, or as it is when the bridge's long poll ends. */
  call(callId: string, seen?: CallView, signal?: AbortSignal): Promise<CallView> {
    const mark = seen?.mark === undefined ? '' : `&seen=${seen.mark}`;
    const query = seen === undefined ? '' : `?after=${seen.revision}${mark}`;
    return this.#send('GET', `/v1/calls/${callId}${query}`, callViewSchema, { signal });
  }

  /** The workspaces that a worker offers, those that are other names of repositories included. */
  async workspaces(workerId: string): Promise<readonly ShownWorkspace[]> {
    const path = `/v1/bridge/workers/${encodeURIComponent(workerId)}/status`;
    const { capabilities } = await this.#send('GET', path, workerStatusSchema);
    if (capabilities === undefined) {
      throw new Refusal('WORKER_OFFLINE', `No worker "${workerId}" has registered with ${this.#base}.`);
    }
    return capabilities.workspaceTools.workspaces;
  }

  /** The ids of the workers that have registered. */
  async workers(): Promise<readonly string[]> {
    return (await this.#send('GET', '/v1/bridge/workers', workersSchema)).workers;
  }

  lanes(workerId: string): Promise<LanesView> {
    return this.#send('GET', `/v1/bridge/workers/${encodeURIComponent(workerId)}/lanes`, lanesViewSchema);
  }

  cancel(callId: string): Promise<CancelReply> {
    return this.#send('POST', `/v1/bridge/calls/${encodeURIComponent(callId)}/cancel`, cancelReplySchema);
  }

  /** A code by which a machine becomes that worker. */
  pair(workerId: string, binding: Binding | undefined): Promise<PairingReply> {
    return this.#send('POST', '/v1/bridge/pairings', pairingReplySchema, { body: { workerId, binding } });
  }

  revoke(workerId: string): Promise<RevokeReply> {
    const path = `/v1/bridge/workers/${encodeURIComponent(workerId)}/revoke`;
    return this.#send('POST', path, revokeReplySchema);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #send<T>(
    method: 'GET' | 'POST',
    path: string,
    schema: z.ZodType<T>,
    options: {
      readonly body?: object;
      readonly headers?: Readonly<Record<string, string>>;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<T> {
    const { status, text } = await this.#exchange(method, path, options);
    const body = parseJson(text);
    if (status === 200) {
      const parsed = schema.safeParse(body);
      if (parsed.success) return parsed.data;
      throw new CliError(
        `${this.#base} answered ${path} in a form that this version does not know.`,
        'Use a bridge and a command line of the same version.',
        { cause: parsed.error },
      );
    }
    const refusal = refusalSchema.safeParse(body);
    if (refusal.success) throw new Refusal(refusal.data.code, refusal.data.message, refusal.data);
    throw new CliError(
      `${this.#base} answered ${path} with status ${status} and no error that Codelanes knows.`,
      'See whether this is the address of a Codelanes bridge.',
    );
  }

  async #exchange(
    method: 'GET' | 'POST',
    path: string,
    options: {
      readonly body?: object;
      readonly headers?: Readonly<Record<string, string>>;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<{ readonly status: number; readonly text: string }> {
    try {
      const reply = await httpRequest(`${this.#base}${path}`, {
        method,
        headers: {
          ...this.#headers,
          ...options.headers,
          ...(options.body !== undefined && { 'content-type': 'application/json' }),
        },
        body: options.body === undefined ? null : JSON.stringify(options.body),
        dispatcher: this.#agent,
        signal: options.signal ?? null,
      });
      return { status: reply.statusCode, text: await reply.body.text() };
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (isUntrusted(error)) throw untrusted(this.#base, error);
      const arrived = !neverSent.has(code);
      const what = arrived ? 'ended the connection before it answered' : 'cannot be reached';
      throw new NoAnswer(`The bridge at ${this.#base} ${what}.`, arrived, { cause: error });
    }
  }
}

/** No request goes over a connection whose other end is not known. */
function untrusted(base: string, cause: unknown): CliError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new CliError(
    `The certificate of ${base} is not trusted here: ${why}.`,
    'Name the authority that made it with --ca-file, or set CODELANES_CA_FILE.',
    { cause },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
