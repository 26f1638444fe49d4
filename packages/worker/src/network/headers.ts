import type { IncomingMessage } from 'node:http';

/** Headers that are meant for the next hop alone. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers of a message that the next hop is to see: all but those meant for this one. */
export function passedOn(message: IncomingMessage): Record<string, string[]> {
  const named = (message.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set(named);
  return Object.fromEntries(
    Object.entries(message.headersDistinct).flatMap(([name, values]) =>
      values === undefined || hopByHop.has(name) || (dropped.has(name) && name !== 'content-length')
        ? []
        : [[name, values]],
    ),
  );
}
