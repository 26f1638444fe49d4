import { settlementSchema } from '@codelanes/protocol';
import { z } from 'zod';
import { scriptStopped } from '../paused-script.js';
import type { Waited } from '../durable-requests.js';
import type { CallEnd } from '../store.js';
import { ReplyReader } from './reply-reader.js';
import { readReason, type Viewer } from './views.js';

const whySchema = z.enum(['deadline', 'caller_gone', 'cancelled']);

/** Reads how a call ended: `how|why or cancelled|token|payload`. @throws Error where it is nothing of that. */
export function readCallEnd(stored: string): CallEnd {
  const [, how, detail, payload] = /^(\w+)\|(\w*)\|[0-9a-f]*\|(.*)$/s.exec(stored) ?? [];
  if (how === 'settled' && payload !== undefined) {
    return { how, settlement: settlementSchema.parse(JSON.parse(payload)), cancelled: detail === '1' };
  }
  if (how === 'stopped') return scriptStopped;
  if (how === 'interrupted' && payload !== undefined) return { how, reason: payload };
  if (how === 'withdrawn') return { how, why: whySchema.parse(detail) };
  throw new Error('a stored end of a call cannot be read');
}

const waitedSchema = z.array(z.string());

/** What a durable request waited for that left the queue at its deadline, where that is stored with its end. */
export function readWaited(stored: string, viewer: Viewer): Waited | undefined {
  const [, waited] = /^withdrawn\|deadline\|\|(.+)$/s.exec(stored) ?? [];
  if (waited === undefined) return undefined;
  const values = new ReplyReader(waitedSchema.parse(JSON.parse(waited)));
  return { waitedMs: values.number(), waitedFor: readReason(values, viewer) };
}
