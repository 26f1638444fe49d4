import { CodelanesError } from '@codelanes/protocol';
import { z } from 'zod';
import { malformed } from './parse.js';

const frameworkErrorSchema = z.object({ code: z.string(), statusCode: z.int() });

/** What the HTTP framework refuses, in sentences that say what was expected instead. */
const faults: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'header content-type: expected application/json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'body: expected JSON',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'header content-length: it does not match the body',
  FST_ERR_MAX_PARAM_LENGTH: 'path: an id is longer than any id may be',
  FST_ERR_BAD_URL: 'path: expected percent-encoded UTF-8',
};

/**
 * An error of the table for one that the HTTP framework raised, or `undefined` where it is a fault of the
 * bridge itself. The limit is the one of the route, in bytes.
 */
export function refusalOf(error: unknown, bodyLimit: number): CodelanesError | undefined {
  if (CodelanesError.is(error)) return error;
  const parsed = frameworkErrorSchema.safeParse(error);
  if (!parsed.success || parsed.data.statusCode >= 500) return undefined;
  const { code, statusCode } = parsed.data;
  if (statusCode === 413) {
    return new CodelanesError('BODY_TOO_LARGE', `A body has at most ${bodyLimit} bytes here.`);
  }
  if (statusCode === 404) return routeNotFound();
  return malformed(faults[code] ?? 'it is not what HTTP and JSON allow');
}

export function routeNotFound(): CodelanesError {
  return new CodelanesError('ROUTE_NOT_FOUND', 'This bridge has no such route.');
}
