import type { Assignment, ProgrammaticReply, RunScriptResult, ToolCall } from '@codelanes/protocol';
import { programmaticReplySchema } from '@codelanes/protocol';
import type { Answer, Sending, TestBridge } from './test-bridge.js';
import type { TestWorker } from './test-worker.js';

export const programmaticPath = '/v1/exec/programmatic';

/** Header by which the SDK names the workspace that was selected. */
export const inPrimary = { 'x-librechat-code-workspace-id': 'primary' };

export interface ScriptSending extends Sending {
  readonly path?: string;
}

/** Sends a script as the SDK of LibreChat does. */
export function runScript(
  bridge: TestBridge,
  fields: object = {},
  { path = programmaticPath, headers, ...sending }: ScriptSending = {},
): Promise<Answer> {
  const body = { lang: 'bash', code: 'true', tools: [], ...fields };
  return bridge.send(path, { as: 'caller', body, ...sending, headers: { ...inPrimary, ...headers } });
}

/** Sends what the tool calls of that pause came to: for each one its own name. */
export function goOn(bridge: TestBridge, { json }: Answer, sending: ScriptSending = {}): Promise<Answer> {
  const { continuation_token: token, tool_calls: calls } = pauseIn(json);
  const results = calls.map(({ id, name }) => ({ call_id: id, result: name, is_error: false }));
  return goOnWith(bridge, token, results, sending);
}

export function goOnWith(
  bridge: TestBridge,
  token: string,
  results: readonly object[],
  { path = programmaticPath, ...sending }: ScriptSending = {},
): Promise<Answer> {
  return bridge.send(path, {
    as: 'caller',
    body: { continuation_token: token, tool_results: results },
    ...sending,
  });
}

export function pauseIn(json: object): Extract<ProgrammaticReply, { status: 'tool_call_required' }> {
  const reply = programmaticReplySchema.parse(json);
  if (reply.status !== 'tool_call_required') throw new Error(`It did not pause: ${JSON.stringify(reply)}`);
  return reply;
}

/** A tool call as a worker numbers it. */
export function toolCall(number: number, name = 'web-search'): ToolCall {
  return { id: `call_${String(number).padStart(3, '0')}`, name, input: { q: number } };
}

/** The worker pauses a script at these tool calls. */
export function pauseAt(
  worker: TestWorker,
  assignment: Assignment,
  ...toolCalls: ToolCall[]
): Promise<boolean> {
  return worker.settle(assignment, { status: 'paused', toolCalls, stdout: 'so far\n' });
}

/** The worker ends a script. */
export function endScript(
  worker: TestWorker,
  assignment: Assignment,
  result: Partial<RunScriptResult> = {},
): Promise<boolean> {
  return worker.settle(assignment, {
    status: 'fulfilled',
    result: {
      protocolVersion: 1,
      operation: 'run_script',
      workspaceId: assignment.request.workspaceId,
      exitCode: 0,
      stdout: '',
      stderr: '',
      truncated: false,
      timedOut: false,
      files: [],
      ...result,
    },
  });
}
