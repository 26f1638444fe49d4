import { z } from 'zod';
import { outdated, refused, registeredAnew } from '../memory/refused.js';
import { queueFullText } from '../queue-full.js';
import type { SubmissionRefused } from '../store.js';
import type { ScriptReply } from './worker-scripts.js';

const boundSchema = z.enum(['queue', 'share', 'requests']);

/** The one place where a refusing code of a script becomes words; `undefined` where the script did as asked. */
export function refusalOf({ code, values }: ScriptReply, workerId: string): SubmissionRefused | undefined {
  switch (code) {
    case 'OK':
      return undefined;
    case 'WORKER_NOT_FOUND':
      return refused(code, `Worker ${workerId} has not registered with this bridge.`);
    case 'REGISTERED_ANEW':
      return registeredAnew(workerId);
    case 'OUTDATED':
      return outdated(workerId);
    case 'WORKER_FENCED':
      return refused(code, `Another start of worker ${workerId} has taken over, or runs elsewhere.`);
    case 'WORKER_OFFLINE':
      return refused(code, `Worker ${workerId} was not heard from lately.`);
    case 'WORKER_QUEUE_FULL':
      return refused(code, queueFullText(workerId, boundSchema.parse(values.text())));
    case 'REQUEST_CONFLICT':
      return refused(code, 'This request id stands for other work.');
    case 'CALL_ID_TAKEN':
      return refused(code, 'There is already a call of that id.');
    default:
      throw new Error(`a script answered with the unknown code ${code}`);
  }
}
