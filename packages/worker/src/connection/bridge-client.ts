import { lookup as resolveName } from 'node:dns';
import type { LookupFunction } from 'node:net';
import {
  isLoopbackUrl,
  issuedCredentialSchema,
  pollReplySchema,
  registerReplySchema,
  renewReplySchema,
  reportReplySchema,
  settleReplySchema,
  workerWireVersion,
} from '@codelanes/protocol';
import type {
  IssuedCredential,
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
import type { Access } from './access.js';
import { linesOf } from './lines.js';
import type { ConnectionOptions } from './messages.js';

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
    return passingCodes.has(this.code) || this.status >= 500 || this.status === 429;
  }
}

/** A bridge that restarted knows nothing; a clock is set right; what is signed anew is no repetition. */
const passingCodes = new Set(['WORKER_NOT_FOUND', 'CREDENTIAL_EXPIRED', 'CLOCK_SKEWED', 'PROOF_REPLAYED']);

const refusalSchema = z.looseObject({ code: z.string(), error: z.string() });

/** A batch that comes this much later than the bridge wrote it was not merely on its way. */
const heldBackMs = 1_000;

type Body<T> = Omit<T, 'version'>;

export interface BridgeClientOptions extends Pick<ConnectionOptions, 'bridgeUrl' | 'workerId' | 'authority'> {
  readonly access: Access;
  readonly requestMs: number;
}

/** The worker's five requests. A rejection that is no `BridgeRefusal` means that no answer came. */
export class BridgeClient {
  readonly #base: string;
  readonly #workerId: string;
  readonly #access: Access;
  readonly #agent: Agent;
  readonly #requestMs: number;
  /** Whether lines come as they are written, as they do where nothing but this machine's own network lies between. */
  #takesStreams: boolean;

  constructor(options: BridgeClientOptions) {
    this.#base = options.bridgeUrl.replace(/\/+$/, '');
    this.#workerId = encodeURIComponent(options.workerId);
    this.#access = options.access;
    this.#requestMs = options.requestMs;
    this.#takesStreams = isLoopbackUrl(new URL(options.bridgeUrl));
    this.#agent = new Agent({
      keepAliveTimeout: 60_000,
      connect: {
        lookup: cachedLookup(),
        timeout: options.requestMs,
        ...(options.authority === undefined ? {} : { ca: options.authority }),
      },
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
      for await (const line of linesOf(reply.setEncoding('utf8'))) {
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
    const due = this.#access.due(this.#refresh);
    if (due !== undefined) await due;
    const target = `/v1/workers/${this.#workerId}/${route}`;
    const text = JSON.stringify({ version: workerWireVersion, ...body });
    try {
      return await this.#send(target, text, signal);
    } catch (error) {
      // The clocks of bridge and worker differ, or the machine slept.
      if (!(error instanceof BridgeRefusal) || error.code !== 'CREDENTIAL_EXPIRED') throw error;
    }
    await this.#access.renew(this.#refresh);
    return this.#send(target, text, signal);
  }

  readonly #refresh = (): Promise<IssuedCredential> => {
    return withinTime(this.#requestMs, undefined, async (within) => {
      const target = `/v1/bridge/workers/${this.#workerId}/credentials/refresh`;
      const reply = await this.#send(target, JSON.stringify({ protocolVersion: 1 }), within);
      return issuedCredentialSchema.parse(await reply.body.json());
    });
  };

  async #send(target: string, text: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const reply = await request(`${this.#base}${target}`, {
      method: 'POST',
      headers: { ...this.#access.headersOf(target, text), 'content-type': 'application/json' },
      body: text,
      dispatcher: this.#agent,
      signal,
    });
    if (reply.statusCode === 200) return reply;
    throw refusalOf(target, reply.statusCode, await reply.body.json().catch(() => undefined));
  }
}

function refusalOf(target: string, status: number, json: unknown): BridgeRefusal {
  const refusal = refusalSchema.safeParse(json);
  if (refusal.success) return new BridgeRefusal(status, refusal.data.code, refusal.data.error);
  return new BridgeRefusal(status, 'UNKNOWN', `the bridge answered ${target} with status ${status}`);
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
