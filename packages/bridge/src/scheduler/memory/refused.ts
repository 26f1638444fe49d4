import { errorKinds, type ErrorCode } from '@codelanes/protocol';
import type { Refused } from '../store.js';

/** A refusal whose message says what is the matter and what to do next. */
export function refused(code: ErrorCode, what: string): Refused {
  return { ok: false, error: { code, message: `${what} ${errorKinds[code].next}` } };
}

/** The refusal of a poll that belongs to an earlier registration. */
export function registeredAnew(workerId: string): Refused {
  return refused('WORKER_NOT_FOUND', `Worker ${workerId} has registered anew since.`);
}
