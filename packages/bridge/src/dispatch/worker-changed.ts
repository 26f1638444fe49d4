import { CodelanesError } from '@codelanes/protocol';
import type { SubmissionRefused } from '../scheduler/store.js';

/** The call was not entered, as its worker is not any more what it was when the call was let in: it is to be judged anew. */
export class WorkerChanged extends CodelanesError {}

/** The refusal of a call as it is thrown: a `WorkerChanged` where it is outdated. */
export function refusalError({ error, isOutdated }: SubmissionRefused): CodelanesError {
  const { code, message } = error;
  return isOutdated === true ? new WorkerChanged(code, message) : new CodelanesError(code, message);
}
