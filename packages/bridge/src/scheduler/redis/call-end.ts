import { settlementSchema } from '@codelanes/protocol';
import { z } from 'zod';
import { scriptStopped } from '../paused-script.js';
import type { CallEnd } from '../store.js';

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
