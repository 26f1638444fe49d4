import { settlementSchema } from '@codelanes/protocol';
import { z } from 'zod';
import { scriptStopped } from '../paused-script.js';
import type { CallEnd, Waited } from '../store.js';
import { ReplyReader } from './reply-reader.js';
import { readReason, type Viewer } from './views.js';

const whySchema = z.enum(['deadline', 'caller_gone', 'cancelled']);

/**
 * Reads how a call ended: `how|why or cancelled|token|payload`. What it waited for is for its viewer only.
 *
 * @throws Error where it is nothing of that.
 */
export function readCallEnd(stored: string, viewer?: Viewer): CallEnd {
  const [, how, detail, payload] = /^(\w+)\|(\w*)\|[0-9a-f]*\|(.*)$/s.exec(stored) ?? [];
  if (how === 'settled' && payload !== undefined) {
    return { how, settlement: settlementSchema.parse(JSON.parse(payload)), cancelled: detail === '1' };
  }
  if (how === 'stopped') return scriptStopped;
  if (how === 'interrupted' && payload !== undefined) return { how, reason: payload };
  if (how === 'withdrawn') {
    const why = whySchema.parse(detail);
    if (viewer === undefined || payload === undefined || payload === '') return { how, why };
    return { how, why, waited: readWaited(payload, viewer) };
  }
  throw new Error('a stored end of a call cannot be read');
}

const waitedSchema = z.array(z.string());

function readWaited(stored: string, viewer: Viewer): Waited {
  const values = new ReplyReader(waitedSchema.parse(JSON.parse(stored)));
  return { waitedMs: values.number(), waitedFor: readReason(values, viewer) };
}
