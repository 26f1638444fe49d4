import { Agent, fetch } from 'undici';
import { brokenRules, type SentRequest } from './reply-rules.js';

/** What LibreChat's client makes of a refusal; only after the first two it sends the call again. */
export type Refusal = 'queue_timeout' | 'rate_limited' | 'final';

export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly json: unknown;
  readonly retryAfter: string | null;
}

/**
 * A LibreChat server as the bridge sees it: what it sends for its own tools, and what it makes of the replies. It never
 * says that it is a client of Codelanes.
 */
export class LibreChatServer {
  readonly #base: string;
  readonly #token: string | (() => string);
  readonly #workerId: string;
  readonly #agent: Agent | undefined;

  /** A token that is made anew for each request, or one for all. */
  constructor(
    url: string,
    token: string | (() => string),
    { workerId = 'w1', authority }: ServerOptions = {},
  ) {
    this.#base = `${url}/v1`;
    this.#token = token;
    this.#workerId = workerId;
    this.#agent = authority === undefined ? undefined : new Agent({ connect: { ca: authority } });
  }

  send(
    request: object | string,
    { queueWaitMs = 30_000, path = '/workspace-tools/execute', headers = {} }: SendOptions = {},
  ): Promise<Reply> {
    return this.#exchange('POST', path, {
      body: typeof request === 'string' ? request : JSON.stringify(request),
      headers: {
        'Content-Type': 'application/json',
        'X-LibreChat-Workspace-Queue-Wait-Ms': String(queueWaitMs),
        ...headers,
      },
    });
  }

  ask(method: 'GET' | 'DELETE', path: string): Promise<Reply> {
    return this.#exchange(method, path, { headers: {} });
  }

  /** The result of a call that LibreChat would take. */
  async result(request: SentRequest, { laneGit = false, ...options }: ResultOptions = {}): Promise<object> {
    const { status, body, json } = await this.send(request, options);
    if (status !== 200) throw new Error(`expected a result, got ${status}: ${body}`);
    const broken = brokenRules(request, json, { laneGit });
    if (broken.length > 0)
      throw new Error(`LibreChat takes no result where not ${broken.join('; ')}: ${body}`);
    if (Buffer.byteLength(body) > 4 * 1024 * 1024) throw new Error('LibreChat reads at most 4 MiB.');
    return typeof json === 'object' && json !== null ? json : {};
  }

  /** A call that has to be refused: its code, and what LibreChat does next. */
  async refusal(request: object | string, options: SendOptions = {}): Promise<RefusedReply> {
    const reply = await this.send(request, options);
    if (reply.status === 200) throw new Error(`expected a refusal, got ${reply.body}`);
    const { code, error } = fieldsOf(reply.json);
    if (typeof code !== 'string' || typeof error !== 'string')
      throw new Error(`no code and sentence: ${reply.body}`);
    return { ...reply, code, error, refusal: refusalOf(reply) };
  }

  async #exchange(method: string, path: string, { body, headers }: Sent): Promise<Reply> {
    const reply = await fetch(`${this.#base}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${typeof this.#token === 'string' ? this.#token : this.#token()}`,
        'X-CodeAPI-Expected-Profile': 'stateful',
        'X-LibreChat-Code-Worker-ID': this.#workerId,
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      redirect: 'error',
      ...(this.#agent === undefined ? {} : { dispatcher: this.#agent }),
    });
    const text = await reply.text();
    return {
      status: reply.status,
      body: text,
      json: parsed(text),
      retryAfter: reply.headers.get('retry-after'),
    };
  }
}

interface ServerOptions {
  readonly workerId?: string;
  /** The certificate, in PEM, by which the bridge's is known. */
  readonly authority?: string | undefined;
}

interface Sent {
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SendOptions {
  readonly queueWaitMs?: number;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface ResultOptions extends SendOptions {
  readonly laneGit?: boolean;
}

export interface RefusedReply extends Reply {
  readonly code: string;
  readonly error: string;
  readonly refusal: Refusal;
}

/** Of a body of more than 4 KiB LibreChat reads no code. */
function refusalOf({ status, body, json }: Reply): Refusal {
  if (Buffer.byteLength(body) > 4096) return 'final';
  const { code, error } = fieldsOf(json);
  if (status === 503 && code === 'WORKSPACE_QUEUE_TIMEOUT') return 'queue_timeout';
  return status === 429 && error === 'rate_limited' ? 'rate_limited' : 'final';
}

function fieldsOf(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null ? { ...json } : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
