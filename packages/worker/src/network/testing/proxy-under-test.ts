import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { DomainPattern, OpenNetwork } from '../../environment/network-policy.js';
import type { Resolution } from '../admission.js';
import { CallProxy } from '../call-proxy.js';
import type { Denials } from '../denials.js';

/** A proxy on a listener of the test's own, and a client that says to it what it likes. */
export class ProxyUnderTest {
  readonly #proxy: CallProxy;
  readonly port: number;

  private constructor(proxy: CallProxy, port: number) {
    this.#proxy = proxy;
    this.port = port;
  }

  static async start(
    policy: OpenNetwork,
    resolution: Resolution,
    headersMs?: number,
  ): Promise<ProxyUnderTest> {
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const address = listener.address();
    if (address === null || typeof address === 'string') throw new Error('Nothing listens.');
    const proxy = new CallProxy(policy, resolution, headersMs);
    proxy.serve(listener);
    return new ProxyUnderTest(proxy, address.port);
  }

  /** Opens a connection to the proxy and leaves it to the test. */
  async open(): Promise<Socket> {
    const socket = connect(this.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    socket.resume();
    return socket;
  }

  /** Says something on a connection of its own, and gives all that comes back until the proxy closes that. */
  async say(words: string | Buffer): Promise<string> {
    const socket = await this.open();
    socket.write(words);
    return text(socket).catch(() => '');
  }

  /** A plain request, and the status that came back. */
  async get(url: string, headers: readonly string[] = ['Host: whatever']): Promise<number> {
    return statusOf(
      await this.say([`GET ${url} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n')),
    );
  }

  /** Asks for a tunnel; the socket is at its first byte when the status is 200. */
  async tunnel(target: string): Promise<{ status: number; socket: Socket }> {
    const socket = await this.open();
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
    const answer = String((await once(socket, 'data'))[0]);
    return { status: statusOf(answer), socket };
  }

  close(): Denials {
    return this.#proxy.close();
  }
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(answer)?.[1] ?? 0);
}

/** Resolves when a connection has ended, in whatever way: a reset is as good as an end. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    if (socket.destroyed) resolve();
    else
      socket.once('close', () => {
        resolve();
      });
  });
}

/** An entry of an allow-list. */
export function domain(host: string, port: number, subdomains = false): DomainPattern {
  return { host, subdomains, ports: [port] };
}
