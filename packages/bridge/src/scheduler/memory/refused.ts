import { errorKinds, type ErrorCode } from '@codelanes/protocol';
import type { Refused } from '../store.js';

/** A refusal whose message says what is the matter and what to do next. */
export function refused(code: ErrorCode, what: string): Refused {
  return { ok: false, error: { code, message: `${what} ${errorKinds[code].next}` } };
}
