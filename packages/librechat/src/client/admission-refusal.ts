import { jsonObject } from './json-object.js';
import { errorBodyBytes } from './reply-body.js';

/**
 * The two refusals that prove that nothing was started, and after which alone a call is repeated: its time in the queue
 * was over, or the rate limit stopped it before its body was read.
 */
export type AdmissionRefusal = 'queue_timeout' | 'rate_limited';

/** A body that was cut, or cannot be read, proves nothing. */
export function admissionRefusalOf(
  status: number | undefined,
  body: string | undefined,
  truncated: boolean,
): AdmissionRefusal | undefined {
  if ((status !== 503 && status !== 429) || body === undefined || truncated || body.length > errorBodyBytes) {
    return undefined;
  }
  const fields = jsonObject(body);
  if (status === 503) return fields?.['code'] === 'WORKSPACE_QUEUE_TIMEOUT' ? 'queue_timeout' : undefined;
  return fields?.['error'] === 'rate_limited' ? 'rate_limited' : undefined;
}

const defaultDelayMs = 1_000;
const bounds = { least: 100, most: 30_000 };

/** How long to wait before a call is repeated: what the reply asks for, within 0.1 and 30 s, else 1 s. */
export function retryDelayMs(retryAfter: string | null, refusal: AdmissionRefusal, body: string): number {
  const asked = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  const told = refusal === 'rate_limited' ? jsonObject(body)?.['retry_after_seconds'] : undefined;
  const seconds = asked ?? (typeof told === 'number' && told >= 0 ? told : undefined);
  if (seconds === undefined) return defaultDelayMs;
  return Math.max(bounds.least, Math.min(bounds.most, seconds * 1_000));
}
