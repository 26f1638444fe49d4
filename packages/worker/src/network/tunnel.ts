import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Says that the tunnel stands and joins both ends; each end may close its half, and the end of one is the other's. */
export function splice(client: Duplex, upstream: Socket, head: Buffer): void {
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) upstream.write(head);
  client.once('close', () => {
    upstream.destroy();
  });
  upstream.once('close', () => {
    client.destroy();
  });
  client.pipe(upstream);
  upstream.pipe(client);
}
