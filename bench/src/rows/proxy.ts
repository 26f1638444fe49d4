import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { NetworkProcess } from '@codelanes/worker/network-process';
import { median } from '../measure/quantile.js';
import { elapsedMs, repeat } from '../measure/repeat.js';
import type { Measured, Row } from '../row.js';

/** Connections of either kind in one round. */
const connectionsPerRound = 200;
const host = 'localhost';

export const proxy: Row = {
  name: 'proxy',
  what:
    'A connection through the proxy of a call (`CONNECT`, name resolved, address checked as a public IPv4 address is, ' +
    'one byte there and one back) to a server on loopback, less the same connection made directly. The proxy runs in ' +
    "its own process, as a worker's does. p50 less p50 in each round; both kinds alternate.",
  unit: 'ms',
  gate: 3,
  goal: 1.5,
  measure,
};

async function measure(rounds: number): Promise<Measured> {
  const network = new NetworkProcess(new URL('../rig/proxies-process.js', import.meta.url));
  const echo = createServer((socket) => socket.pipe(socket));
  const listener = createServer();
  const [port, proxyPort] = await Promise.all([listening(echo), listening(listener)]);
  const domains = [{ host, subdomains: false, ports: [port] }];
  const call = await network.open(listener, { kind: 'allowed', domains });
  try {
    await alternate(port, proxyPort, 20);
    const found = await repeat(rounds, () => alternate(port, proxyPort, connectionsPerRound));
    return {
      rounds: found.map((round) => round.proxied - round.direct),
      also: {
        proxied: median(found.map((round) => round.proxied)),
        direct: median(found.map((round) => round.direct)),
      },
    };
  } finally {
    await call.close();
    await network.stop();
    echo.close();
  }
}

async function alternate(port: number, proxyPort: number, times: number) {
  const pairs = await repeat(times, async () => ({
    proxied: await elapsedMs(() => throughProxy(proxyPort, port)),
    direct: await elapsedMs(() => directly(port)),
  }));
  return {
    proxied: median(pairs.map((pair) => pair.proxied)),
    direct: median(pairs.map((pair) => pair.direct)),
  };
}

async function directly(port: number): Promise<void> {
  const socket = connect(port, host);
  await exchange(socket, 'x');
  socket.destroy();
}

async function throughProxy(proxyPort: number, port: number): Promise<void> {
  const socket = connect(proxyPort, '127.0.0.1');
  const answer = await exchange(socket, `CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`);
  if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`The proxy refused: ${answer}`);
  await exchange(socket, 'x');
  socket.destroy();
}

/** Says something and waits for the first bytes that come back. */
async function exchange(socket: Socket, words: string): Promise<string> {
  socket.write(words);
  return String((await once(socket, 'data'))[0]);
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Nothing listens.');
  return address.port;
}
