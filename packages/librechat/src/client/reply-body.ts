import type { HttpReply } from './http-fetch.js';

/** What is read of the reply to a refused call, and for how long. */
export const errorBodyBytes = 4096;
const errorBodyMs = 1_000;

/**
 * The text of a reply, or `undefined` where it has more bytes than that; of such a reply nothing more is read.
 */
export async function textWithin(reply: HttpReply, bytes: number): Promise<string | undefined> {
  const declared = Number(reply.headers.get('content-length') ?? 0);
  if (reply.body === null || declared > bytes) {
    await reply.body?.cancel();
    return reply.body === null ? '' : undefined;
  }
  const reader = reply.body.getReader();
  const chunks: Uint8Array[] = [];
  let read = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return new TextDecoder().decode(joined(chunks));
    read += value.byteLength;
    if (read > bytes) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
}

export interface ErrorText {
  readonly body: string;
  /** The body was longer, or did not end in time. */
  readonly truncated: boolean;
}

/** What can be had of the body of a refusal: at most 4 KiB, within 1 s. Never fails, as the status is known already. */
export async function errorTextOf(reply: HttpReply, signal: AbortSignal): Promise<ErrorText> {
  if (reply.body === null) return { body: '', truncated: false };
  const reader = reply.body.getReader();
  const chunks: Uint8Array[] = [];
  let read = 0;
  let whole = false;
  const stop = () => void reader.cancel().catch(() => undefined);
  const enough = AbortSignal.any([signal, AbortSignal.timeout(errorBodyMs)]);
  enough.addEventListener('abort', stop, { once: true });
  try {
    while (read <= errorBodyBytes && !enough.aborted) {
      const { done, value } = await reader.read();
      // A stopped read ends like one that was whole.
      whole = done && !enough.aborted;
      if (done || value === undefined) break;
      chunks.push(value);
      read += value.byteLength;
    }
  } catch {
    whole = false;
  } finally {
    enough.removeEventListener('abort', stop);
    stop();
  }
  return { body: new TextDecoder().decode(joined(chunks).subarray(0, errorBodyBytes)), truncated: !whole };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(chunks);
}
