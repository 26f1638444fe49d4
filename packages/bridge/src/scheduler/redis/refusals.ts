import type { NewCall, Refused } from '../store.js';
import { refused } from '../memory/refused.js';

/** The one place where a refusing code of a script becomes words; `undefined` where the script did as asked. */
export function refusalOf(code: string, workerId: string, call?: NewCall): Refused | undefined {
  switch (code) {
    case 'OK':
      return undefined;
    case 'WORKER_NOT_FOUND':
      return refused(code, `Worker ${workerId} has not registered with this bridge.`);
    case 'WORKER_FENCED':
      return refused(code, `Another start of worker ${workerId} has taken over, or runs elsewhere.`);
    case 'WORKER_OFFLINE':
      return refused(code, `Worker ${workerId} was not heard from lately.`);
    case 'WORKER_QUEUE_FULL':
      return refused(code, `The queue of ${workerId} is full.`);
    case 'CALL_ID_TAKEN':
      return refused(code, `There is already a call ${call?.callId ?? 'of that id'}.`);
    default:
      throw new Error(`a script answered with the unknown code ${code}`);
  }
}
