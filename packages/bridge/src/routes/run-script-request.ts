import type {
  LaneFields,
  ProgrammaticFile,
  ProgrammaticRequest,
  RunScriptRequest,
} from '@codelanes/protocol';
import { CodelanesError, protocolVersion, runScriptRequestSchema } from '@codelanes/protocol';
import { parse } from './parse.js';

/**
 * What a worker is asked for by a programmatic request.
 *
 * @throws CodelanesError `UNSUPPORTED_CAPABILITY` for another language or stored files; `MALFORMED_REQUEST` for tools
 * of which two would be the same bash function, and for what is over a bound.
 */
export function runScriptRequestOf(body: ProgrammaticRequest, lane: LaneFields): RunScriptRequest {
  const { code, tools = [], files, timeout } = body;
  const language = body.lang ?? body.language ?? 'bash';
  if (language !== 'bash')
    throw unsupported(`Scripts are written in bash here, and this one in "${language}".`);
  const request = {
    protocolVersion,
    operation: 'run_script',
    ...lane,
    code,
    tools: tools.map(({ name }) => ({ name })),
    timeoutMs: timeout,
    files: files?.map(inBase64),
  };
  return parse(runScriptRequestSchema, request, 'body');
}

function inBase64({ name, content, encoding }: ProgrammaticFile): { name: string; content: string } {
  if (content === undefined) {
    throw unsupported(
      `The file "${name}" is stored elsewhere, and this bridge has no relay to fetch it with.`,
    );
  }
  return { name, content: encoding === 'base64' ? content : Buffer.from(content).toString('base64') };
}

function unsupported(message: string): CodelanesError {
  return new CodelanesError('UNSUPPORTED_CAPABILITY', message);
}
