import { programmaticReplySchema, type ProgrammaticReply } from '@codelanes/protocol';
import type { Answer, Caller, CallOptions } from './caller.js';

export type PausedScript = Extract<ProgrammaticReply, { status: 'tool_call_required' }>;
export type CompletedScript = Extract<ProgrammaticReply, { status: 'completed' }>;

/** What a tool of a script comes to. */
export type ScriptTool = (input: Readonly<Record<string, unknown>>) => unknown;

/** A host of scripts, as the SDK of LibreChat is one: in one lane, by its base URL. */
export class ScriptCalls {
  readonly #caller: Caller;
  readonly #path: string;

  constructor(caller: Caller, worktree?: string) {
    this.#caller = caller;
    const base = worktree === undefined ? '/v1' : `/v1/workspaces/primary/lanes/${worktree}`;
    this.#path = `${base}/exec/programmatic`;
  }

  /** Begins a script that may call `look_up`, whatever comes of it. */
  begin(code: string, fields: object = {}, options: CallOptions = {}): Promise<Answer> {
    const body = { lang: 'bash', code, tools: [{ name: 'look-up' }], ...fields };
    const headers = { 'x-librechat-code-workspace-id': 'primary', ...options.headers };
    return this.#caller.send('POST', this.#path, body, { ...options, headers });
  }

  /** A script that is to pause first. */
  async pause(code: string): Promise<PausedScript> {
    return pauseIn(await this.begin(code));
  }

  /** Tells a paused script what its tools came to, and whatever comes of it. */
  goOn(pause: PausedScript, tool: ScriptTool = () => 'found'): Promise<Answer> {
    const results = pause.tool_calls.map(({ id, input }) => ({ call_id: id, result: tool(input) }));
    const body = { continuation_token: pause.continuation_token, tool_results: results };
    return this.#caller.send('POST', this.#path, body);
  }

  cancel(requestId: string): Promise<Answer> {
    return this.#caller.send('POST', `${this.#path}/cancel`, { request_id: requestId });
  }

  /** Runs a script to its end, calling its tools; `between` happens at each pause. */
  async run(
    code: string,
    tool: ScriptTool = () => 'found',
    between: (pause: PausedScript) => Promise<void> = () => Promise.resolve(),
  ): Promise<CompletedScript> {
    for (let answer = await this.begin(code); ;) {
      const reply = replyIn(answer);
      if (reply.status === 'completed') return reply;
      await between(reply);
      answer = await this.goOn(reply, tool);
    }
  }
}

function replyIn({ status, text, json }: Answer): ProgrammaticReply {
  if (status !== 200) throw new Error(`expected a reply to a script, got ${status}: ${text}`);
  return programmaticReplySchema.parse(json);
}

export function pauseIn(answer: Answer): PausedScript {
  const reply = replyIn(answer);
  if (reply.status !== 'tool_call_required') throw new Error(`it did not pause: ${answer.text}`);
  return reply;
}

export function completedIn(answer: Answer): CompletedScript {
  const reply = replyIn(answer);
  if (reply.status !== 'completed') throw new Error(`it did not complete: ${answer.text}`);
  return reply;
}
