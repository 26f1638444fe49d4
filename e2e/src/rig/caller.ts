import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  callViewSchema,
  cancelReplySchema,
  lanesViewSchema,
  workspaceToolResultSchema,
} from '@codelanes/protocol';
import type { CallView, CancelReply, LanesView, WorkspaceToolResult } from '@codelanes/protocol';
import { fetch, type Headers } from 'undici';
import { z } from 'zod';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

export interface CallOptions {
  readonly callId?: string;
  readonly queueWaitMs?: number;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The fields of a request that a test names; the rest is filled in. */
export type Fields = Readonly<Record<string, unknown>> & { readonly operation: string };

const errorSchema = z.object({ code: z.string(), error: z.string() });

/** A caller over real HTTP: an agent's host, or an administrator. */
export class Caller {
  readonly #url: string;
  readonly #token: string;
  readonly #admin: string;

  constructor(url: string, token: string, admin: string) {
    this.#url = url;
    this.#token = token;
    this.#admin = admin;
  }

  /** Sends any request; nothing is checked here. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    options: CallOptions & { token?: string } = {},
  ): Promise<Answer> {
    const reply = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${options.token ?? this.#token}`,
        'x-codelanes-client': '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(options.callId === undefined ? {} : { 'x-codelanes-call-id': options.callId }),
        ...(options.queueWaitMs === undefined
          ? {}
          : { 'x-librechat-workspace-queue-wait-ms': String(options.queueWaitMs) }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, json: parsed(text) };
  }

  /** One workspace tool call, whatever comes of it. */
  call(fields: Fields, options: CallOptions = {}): Promise<Answer> {
    const request = { protocolVersion: 1, workspaceId: 'primary', ...fields };
    return this.send('POST', '/v1/workspace-tools/execute', request, options);
  }

  /** One call that must succeed. */
  async succeed(fields: Fields, options: CallOptions = {}): Promise<WorkspaceToolResult> {
    const answer = await this.call(fields, options);
    if (answer.status !== 200) throw new Error(`expected a result, got ${answer.status}: ${answer.text}`);
    return workspaceToolResultSchema.parse(answer.json);
  }

  /** One command that must be run; its status may be any. It has more time than any busy machine makes it need. */
  async run(
    command: string,
    worktree?: string,
    options: CallOptions & { more?: object } = {},
  ): Promise<CommandResult> {
    const { more, ...rest } = options;
    const lane = worktree === undefined ? {} : { worktree };
    const result = await this.succeed(
      { operation: 'execute_command', command, timeoutMs: 240_000, ...lane, ...more },
      { queueWaitMs: 240_000, ...rest },
    );
    if (result.operation !== 'execute_command') throw new Error('expected the result of a command');
    return result;
  }

  /** One call that must be refused; its code and sentence. */
  async refused(
    fields: Fields,
    options: CallOptions = {},
  ): Promise<{ status: number; code: string; error: string }> {
    const answer = await this.call(fields, options);
    if (answer.status === 200) throw new Error(`expected a refusal, got ${answer.text}`);
    return { status: answer.status, ...errorSchema.parse(answer.json) };
  }

  async lanes(): Promise<LanesView> {
    const answer = await this.send('GET', '/v1/bridge/workers/w1/lanes', undefined, { token: this.#admin });
    return lanesViewSchema.parse(answer.json);
  }

  /** The lanes once they are so. */
  async lanesOnce(isSo: (view: LanesView) => boolean): Promise<LanesView> {
    for (;;) {
      const view = await this.lanes();
      if (isSo(view)) return view;
      await sleep(10);
    }
  }

  /** What the bridge counts, in the text format of Prometheus. */
  async metrics(): Promise<string> {
    return (await this.send('GET', '/metrics', undefined, { token: this.#admin })).text;
  }

  async cancel(callId: string): Promise<CancelReply> {
    const answer = await this.send('POST', `/v1/bridge/calls/${callId}/cancel`, {}, { token: this.#admin });
    return cancelReplySchema.parse(answer.json);
  }

  async view(callId: string): Promise<CallView> {
    return callViewSchema.parse((await this.send('GET', `/v1/calls/${callId}`)).json);
  }

  /** Waits until the call is in that state, as its caller sees it. */
  async until(callId: string, state: CallView['state']): Promise<void> {
    for (;;) {
      const answer = await this.send('GET', `/v1/calls/${callId}`);
      const view = callViewSchema.safeParse(answer.json);
      if (view.success && view.data.state === state) return;
      await sleep(10);
    }
  }
}

export type CommandResult = Extract<WorkspaceToolResult, { operation: 'execute_command' }>;

/** Lanes in which that many calls run and wait; what runs may not have begun yet. */
export function counting(running: number, waiting: number): (view: LanesView) => boolean {
  return (view) => view.running.length === running && view.waiting.length === waiting;
}

/** A call id as a caller proposes it. */
export function newCallId(): string {
  return randomBytes(16).toString('hex');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
