import { CodelanesError, workerWireVersion } from '@codelanes/protocol';
import { z } from 'zod';
import { cutText } from '../dispatch/cut-text.js';

/** Room for a fault in a message, in bytes; a body may hold keys of any length. */
const faultBytes = 500;

const spokenSchema = z.object({ version: z.number() });

/** Which part of a request is read, as people name it. */
export type RequestPart = 'body' | 'query' | 'path' | 'header';

/**
 * What a part of a request says, as its schema has it.
 *
 * @throws CodelanesError `MALFORMED_REQUEST`, naming the first field that is wrong and what was expected.
 */
export function parse<T extends z.ZodType>(schema: T, value: unknown, part: RequestPart): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw malformed(faultOf(parsed.error, part));
}

/**
 * The body of a worker's request. A worker of another wire version is told so before anything else of its
 * body is judged.
 *
 * @throws CodelanesError `MALFORMED_REQUEST`.
 */
export function parseWorkerBody<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const spoken = spokenSchema.safeParse(body);
  if (spoken.success && spoken.data.version !== workerWireVersion) {
    throw malformed(
      `body.version: this bridge speaks version ${workerWireVersion} of the worker wire and the worker sent ` +
        `version ${spoken.data.version}; install the same release of both`,
    );
  }
  return parse(schema, body, 'body');
}

export function malformed(fault: string): CodelanesError {
  return new CodelanesError('MALFORMED_REQUEST', `The request is malformed: ${fault}.`);
}

/** The first fault of what stands at that place: which field, and what is wrong with it. */
export function faultOf(error: z.ZodError, place: string): string {
  const issue = error.issues[0];
  return issue === undefined ? place : cutText(faultAt(issue, place), faultBytes);
}

function faultAt(issue: z.core.$ZodIssue, place: string): string {
  const field = [place, ...issue.path.map(String)].join('.');
  if (issue.code === 'unrecognized_keys') {
    return `${field}: no field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')} is known here`;
  }
  // Of several forms the first one is the usual one; that none fits would say nothing.
  const usual = issue.code === 'invalid_union' ? issue.errors[0]?.[0] : undefined;
  return usual === undefined ? `${field}: ${inWords(issue.message)}` : faultAt(usual, field);
}

/** The library's words for what was left out are of its language. */
function inWords(message: string): string {
  return message.replace(/^Invalid input: (expected .+), received undefined$/, '$1, and it is missing');
}
