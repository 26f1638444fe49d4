import { z } from 'zod';

/**
 * Names one request from its caller to the worker's log; the caller's own where it sends one, else made by the
 * bridge. Its characters are safe in any log and any header.
 */
export const requestIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/,
    'expected 1 to 128 of A-Z a-z 0-9 . _ : -, starting with a letter or digit',
  );

/** The trace that a call belongs to, as the caller sends it; source: W3C Trace Context, `traceparent`. */
export const traceparentSchema = z
  .string()
  .regex(
    /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/,
    'expected a traceparent of W3C Trace Context',
  );

/** By what a call can be found again in the logs of bridge and worker; it decides nothing. */
export interface Trace {
  readonly requestId?: string | undefined;
  readonly traceparent?: string | undefined;
}
