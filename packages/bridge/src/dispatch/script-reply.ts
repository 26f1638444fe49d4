import type { ErrorCode, ProgrammaticReply, RunScriptResult } from '@codelanes/protocol';
import { CodelanesError } from '@codelanes/protocol';
import { continuationTokenOf } from './continuation-token.js';
import type { ScriptEnd } from './dispatcher.js';
import { resultInvalid, settledResultOf } from './outcome.js';

/** Refusals of calls that have run, or may have. */
const afterItRan: ReadonlySet<ErrorCode> = new Set([
  'ASSIGNMENT_EXPIRED',
  'INTERNAL_FAULT',
  'RESULT_INVALID',
]);

/**
 * What the caller of a script is told at its end or pause. A script that ran has completed, however it ended: the SDK of
 * LibreChat throws the output of every other state away. How it failed is the last line of its output.
 *
 * @throws CodelanesError where nothing of it ran, or it was stopped on request.
 */
export async function scriptReply(callId: string, end: Promise<ScriptEnd>): Promise<ProgrammaticReply> {
  try {
    return replyTo(callId, await end);
  } catch (error) {
    if (!CodelanesError.is(error) || !afterItRan.has(error.code)) throw error;
    const line = `[${withEnd(error.message)} Look at the workspace before you run it again.]\n`;
    return { status: 'completed', session_id: callId, stdout: line, stderr: '', files: [] };
  }
}

function replyTo(callId: string, end: ScriptEnd): ProgrammaticReply {
  if (end.how === 'paused') {
    return {
      status: 'tool_call_required',
      session_id: callId,
      continuation_token: continuationTokenOf(end.pause),
      tool_calls: [...end.pause.toolCalls],
      partial_stdout: end.pause.stdout,
    };
  }
  const result = settledResultOf(end);
  if (result.operation === 'run_script') return completed(callId, result);
  throw resultInvalid(`it is one of ${result.operation}`);
}

function completed(callId: string, result: RunScriptResult): ProgrammaticReply {
  const { stdout, stderr, files } = result;
  return {
    status: 'completed',
    session_id: callId,
    stdout: withLastLine(stdout, failureOf(result)),
    stderr,
    files: files.map(({ name, content }) => ({ name, content, encoding: 'base64' })),
  };
}

function failureOf({ exitCode, signal, timedOut }: RunScriptResult): string | undefined {
  if (timedOut) return 'timed out';
  if (signal !== undefined) return `ended by ${signal}`;
  return exitCode === 0 ? undefined : `exit code: ${String(exitCode)}`;
}

function withLastLine(text: string, line: string | undefined): string {
  if (line === undefined) return text;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}[${line}]\n`;
}

function withEnd(sentence: string): string {
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
