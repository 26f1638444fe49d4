import { CodelanesError } from '@codelanes/protocol';

/** The call was not entered, as its worker is not any more what it was when the call was let in: it is to be judged anew. */
export class WorkerChanged extends CodelanesError {}
