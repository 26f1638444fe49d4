import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { BridgeOptions } from '../bridge-options.js';
import type { Bridge } from '../bridge.js';
import { startBridge } from '../bridge.js';

export const testTokens = {
  caller: 'caller-token-of-the-tests',
  otherCaller: 'other-caller-token-of-the-tests',
  admin: 'admin-token-of-the-tests',
  worker: 'worker-token-of-the-tests',
};

export type TokenName = keyof typeof testTokens;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Sending {
  readonly as?: TokenName | undefined;
  readonly method?: string | undefined;
  /** Sent as JSON, or verbatim where it is a string. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The address of this machine that it comes from. */
  readonly from?: string | undefined;
  /** The answer is no JSON. */
  readonly isText?: boolean | undefined;
}

/** Longer than any test takes: nothing ends by its time that a test does not end, however slow the machine is. */
const patience = 3_600_000;

/** A bridge with a real store behind real HTTP, whose clocks a test makes as quick as it needs them. */
export class TestBridge {
  readonly #bridge: Bridge;

  private constructor(bridge: Bridge) {
    this.#bridge = bridge;
  }

  static async start(options: Partial<BridgeOptions> = {}, log?: FastifyBaseLogger): Promise<TestBridge> {
    const { caller, otherCaller, admin, worker } = testTokens;
    const tokens = { callers: [caller, otherCaller], admin, worker };
    const quiet = { port: 0, tokens, logLevel: 'silent', drainMs: 0 } as const;
    const scheduler = {
      leaseTtlMs: patience,
      fetchWithinMs: patience,
      placeKeptMs: patience,
      ...options.scheduler,
    };
    const store =
      options.store?.kind === 'redis' ? { bridgeSilentMs: patience, ...options.store } : undefined;
    const whole = { ...quiet, ...options, scheduler, ...(store === undefined ? {} : { store }) };
    return TestBridge.of(await startBridge(whole, log));
  }

  /** A bridge that was started otherwise; it is closed with this. */
  static of(bridge: Bridge): TestBridge {
    return new TestBridge(bridge);
  }

  get port(): number {
    return this.#bridge.port;
  }

  close(): Promise<void> {
    return this.#bridge.close();
  }

  send(path: string, { as, method, body, headers, signal, from, isText }: Sending = {}): Promise<Answer> {
    const payload = typeof body === 'string' ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest({
        host: '127.0.0.1',
        port: this.#bridge.port,
        path,
        localAddress: from,
        agent: false,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          ...(as === undefined ? {} : { authorization: `Bearer ${testTokens[as]}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(signal === undefined ? {} : { signal }),
      });
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text,
            json: isText === true ? {} : jsonObject(text),
          });
        });
      });
      outgoing.end(payload);
    });
  }
}

export function randomId(): string {
  return randomBytes(16).toString('hex');
}

function jsonObject(text: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null) throw new Error(`No JSON object: ${text}`);
  return { ...parsed };
}
