import { lookup as resolveName } from 'node:dns';
import type { LookupFunction } from 'node:net';
import {
  isLoopbackUrl,
  pollReplySchema,
  registerReplySchema,
  renewReplySchema,
  reportReplySchema,
  settleReplySchema,
  workerWireVersion,
} from '@codelanes/protocol';
import type {
  PollReply,
  PollRequest,
  RegisterReply,
  RegisterRequest,
  RenewReply,
  RenewRequest,
  ReportReply,
  ReportRequest,
  SettleReply,
  SettleRequest,
} from '@codelanes/protocol';
import { Agent, request, type Dispatcher } from 'undici';
import { z } from 'zod';
import { withinTime } from '../clock/within-time.js';

/** The bridge answered, with an error: it will say the same again until something changes. */
export class BridgeRefusal extends Error {
  override readonly name = 'BridgeRefusal';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** Whether it passes by itself: a bridge that restarted does not know this worker, or is in trouble. */
  get isPassing(): boolean {
    return this.code === 'WORKER_NOT_FOUND' || this.status >= 500 || this.status === 429;
  }
}

const refusalSchema = z.looseObject({ code: z.string(), error: z.string() });

/** A batch that comes this much later than the bridge wrote it was not merely on its way. */
const heldBackMs = 1_000;

type Body<T> = Omit<T, 'version'>;

/** The worker's five requests. A rejection that is no `BridgeRefusal` means that no answer came. */
export class BridgeClient {
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #agent: Agent;
  readonly #requestMs: number;
  /** Whether lines come as they are written, as they do where nothing but this machine's own network lies between. */
  #takesStreams: boolean;

  constructor(options: { bridgeUrl: string; workerId: string; token: string; requestMs: number }) {
    this.#base = `${options.bridgeUrl.replace(/\/+$/, '')}/v1/workers/${encodeURIComponent(options.workerId)}`;
    this.#headers = { authorization: `Bearer ${options.token}`, 'content-type': 'application/json' };
    this.#requestMs = options.requestMs;
    this.#takesStreams = isLoopbackUrl(new URL(options.bridgeUrl));
    this.#agent = new Agent({
      keepAliveTimeout: 60_000,
      connect: { lookup: cachedLookup(), timeout: options.requestMs },
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  register(body: Body<RegisterRequest>): Promise<RegisterReply> {
    return this.#post('register', body, registerReplySchema);
  }

  /**
   * Resolves when the bridge has said all that this poll brings; every batch is handed over as it comes. No stream is
   * asked for any more after a batch that something in between has held back.
   */
  async poll(
    body: Body<PollRequest>,
    signal: AbortSignal,
    onBatch: (batch: PollReply) => void,
  ): Promise<void> {
    const startedAt = performance.now();
    const stream = this.#takesStreams;
    await withinTime(this.#requestMs + body.waitMs, signal, async (within) => {
      const { body: reply } = await this.#answer('poll', { ...body, stream }, within);
      for await (const line of linesOf(reply)) {
        const batch = pollReplySchema.parse(JSON.parse(line));
        if (performance.now() - startedAt - batch.heldMs > heldBackMs) this.#takesStreams = false;
        onBatch(batch);
      }
    });
  }

  report(body: Body<ReportRequest>): Promise<ReportReply> {
    return this.#post('report', body, reportReplySchema);
  }

  renew(body: Body<RenewRequest>): Promise<RenewReply> {
    return this.#post('renew', body, renewReplySchema);
  }

  settle(body: Body<SettleRequest>): Promise<SettleReply> {
    return this.#post('settle', body, settleReplySchema);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #post<T>(route: string, body: object, schema: z.ZodType<T>): Promise<T> {
    return withinTime(this.#requestMs, undefined, async (within) => {
      const reply = await this.#answer(route, body, within);
      return schema.parse(await reply.body.json());
    });
  }

  /** @throws BridgeRefusal for every other status than 200. */
  async #answer(route: string, body: object, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const reply = await request(`${this.#base}/${route}`, {
      method: 'POST',
      headers: this.#headers,
      body: JSON.stringify({ version: workerWireVersion, ...body }),
      dispatcher: this.#agent,
      signal,
    });
    if (reply.statusCode === 200) return reply;
    throw refusalOf(route, reply.statusCode, await reply.body.json().catch(() => undefined));
  }
}

async function* linesOf(body: Dispatcher.ResponseData['body']): AsyncGenerator<string> {
  const chunks: AsyncIterable<unknown> = body.setEncoding('utf8');
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function refusalOf(route: string, status: number, json: unknown): BridgeRefusal {
  const refusal = refusalSchema.safeParse(json);
  if (refusal.success) return new BridgeRefusal(status, refusal.data.code, refusal.data.error);
  return new BridgeRefusal(status, 'UNKNOWN', `the bridge answered ${route} with status ${status}`);
}

/**
 * A name is resolved once and kept: `dns.lookup` runs on the process-wide thread pool, which tool work may
 * have filled, and a renewal must not wait behind it.
 */
function cachedLookup(): LookupFunction {
  const known = new Map<string, { address: string; family: number }>();
  return (hostname, options, callback) => {
    const answer = (address: string, family: number) => {
      if (options.all === true) callback(null, [{ address, family }]);
      else callback(null, address, family);
    };
    const cached = known.get(hostname);
    if (cached !== undefined) {
      answer(cached.address, cached.family);
      return;
    }
    resolveName(hostname, { family: options.family, hints: options.hints }, (error, address, family) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      known.set(hostname, { address, family });
      answer(address, family);
    });
  };
}
