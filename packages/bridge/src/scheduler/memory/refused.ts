import { errorKinds, type ErrorCode } from '@codelanes/protocol';
import type { Refused, SubmissionRefused } from '../store.js';

/** A refusal whose message says what is the matter and what to do next. */
export function refused(code: ErrorCode, what: string): Refused {
  return { ok: false, error: { code, message: `${what} ${errorKinds[code].next}` } };
}

/** The refusal of a poll that belongs to an earlier registration. */
export function registeredAnew(workerId: string): Refused {
  return refused('WORKER_NOT_FOUND', `Worker ${workerId} has registered anew since.`);
}

/** The refusal of a call that was let in by what is not so any more. */
export function outdated(workerId: string): SubmissionRefused {
  return {
    ...refused('WORKER_MISMATCH', `Worker ${workerId} has changed since it was looked at.`),
    isOutdated: true,
  };
}
