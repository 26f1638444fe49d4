import { workspaceToolResultSchema } from '@codelanes/protocol';
import { Pool } from 'undici';

export interface CallerOptions {
  readonly url: string;
  readonly tokens: { readonly caller: string; readonly admin: string };
  readonly workerId: string;
  readonly workspaceId: string;
}

/** The fields of a request that a row names; the rest is filled in. */
export type Fields = Readonly<Record<string, unknown>> & { readonly operation: string };

export interface Reply {
  readonly status: number;
  readonly text: string;
  /** When the whole answer was there, by this process's clock. */
  readonly at: number;
}

/** An agent's host: real HTTP on connections that are kept open. */
export class Caller {
  readonly #options: CallerOptions;
  readonly #pool: Pool;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#pool = new Pool(options.url, { connections: 32, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  }

  /** One call that must succeed. */
  async execute(fields: Fields): Promise<Reply> {
    const reply = await this.call(fields);
    if (reply.status !== 200) throw new Error(`A call failed with status ${reply.status}: ${reply.text}`);
    return reply;
  }

  /** One command that must exit with 0; its standard output. */
  async run(
    command: string,
    worktree: string,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    const { text } = await this.execute({ operation: 'execute_command', command, worktree, ...more });
    const result = workspaceToolResultSchema.parse(JSON.parse(text));
    if (result.operation !== 'execute_command' || result.exitCode !== 0) {
      throw new Error(`The command did not succeed: ${text}`);
    }
    return result.stdout;
  }

  /** One call, whatever comes of it. */
  call(fields: Fields, callId?: string): Promise<Reply> {
    const { workspaceId, workerId, tokens } = this.#options;
    return this.#send('POST', '/v1/workspace-tools/execute', tokens.caller, {
      headers: {
        'x-librechat-code-worker-id': workerId,
        'x-codelanes-client': '1',
        ...(callId === undefined ? {} : { 'x-codelanes-call-id': callId }),
      },
      body: { protocolVersion: 1, workspaceId, ...fields },
    });
  }

  /** Begins a script, or lets one go on; it must not be refused. */
  async runScript(body: object): Promise<Reply> {
    const { workspaceId, workerId, tokens } = this.#options;
    const headers = {
      'x-librechat-code-worker-id': workerId,
      'x-librechat-code-workspace-id': workspaceId,
    };
    const reply = await this.#send('POST', '/v1/exec/programmatic', tokens.caller, { headers, body });
    if (reply.status !== 200) throw new Error(`A script failed with status ${reply.status}: ${reply.text}`);
    return reply;
  }

  /** The least that a request to the bridge can do. */
  status(): Promise<Reply> {
    const { workerId, tokens } = this.#options;
    return this.#send('GET', `/v1/bridge/workers/${workerId}/status`, tokens.caller);
  }

  cancel(callId: string): Promise<Reply> {
    const path = `/v1/bridge/calls/${callId}/cancel`;
    return this.#send('POST', path, this.#options.tokens.admin, { body: {} });
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    token: string,
    { headers = {}, body }: { headers?: Record<string, string>; body?: object } = {},
  ): Promise<Reply> {
    const reply = await this.#pool.request({
      method,
      path,
      headers: { ...headers, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.body.text();
    return { status: reply.statusCode, text, at: performance.now() };
  }
}
