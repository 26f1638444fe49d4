import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createListener } from 'node:net';
import { text } from 'node:stream/consumers';
import { NetworkProcess } from '@codelanes/worker/network-process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';

describe('the network of a command', () => {
  let repository: Repository;
  let registry: Server;
  let port: number;
  let deployment: Deployment;
  const asked: string[] = [];

  beforeAll(async () => {
    registry = createServer((request, response) => {
      asked.push(`${request.headers.host ?? ''} ${request.url ?? ''}`);
      response.end('a package\n');
    });
    port = await listening(registry);
    repository = Repository.create('a', 'b');
    const domains = [{ host: 'registry.example', subdomains: false, ports: [port] }];
    const root = {
      id: 'primary',
      root: repository.root,
      linkedWorktreeLanes: true,
      network: { kind: 'allowed' as const, domains },
    };
    deployment = await Deployment.start(repository, { slots: 2, worker: { roots: [root] } });
  });
  afterAll(async () => {
    await deployment.stop();
    registry.close();
    repository.remove();
  });

  const get = (host: string): string =>
    `exec 9<>/dev/tcp/127.0.0.1/61280 && printf 'GET http://${host}/left-pad HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' >&9 && cat <&9`;

  it('leads to a host that the definition allows, and to no other', async () => {
    const caller = deployment.caller();
    const [allowed, denied] = await Promise.all([
      caller.run(get(`registry.example:${port}`), 'a'),
      caller.run(get(`other.example:${port}`), 'b'),
    ]);
    expect(allowed.stdout).toContain('a package\n');
    expect(allowed.stderr).toBe('');
    expect(denied.stdout).toContain('403 Forbidden');
    expect(denied.stderr).toBe(
      `codelanes: Network: other.example:${port} is not on the list of allowed domains. The operator can allow it: add "other.example:${port}" to \`network: allow:\` in the environment's definition and restart the worker.\n`,
    );
    expect(asked).toEqual([`registry.example:${port} /left-pad`]);
  });
});

describe('the process of the proxies', () => {
  // What a worker starts by itself, as it was built.
  const ownEntry = new URL('../../packages/worker/dist/network/proxies-main.js', import.meta.url);

  it('permits public addresses only, unless a test brings another', async () => {
    const network = new NetworkProcess(ownEntry);
    const { call, port } = await openCall(network);
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]']) {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(`CONNECT ${host}:80 HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 403 [^]*not public/);
    }
    expect((await call.close()).sentences).toHaveLength(3);
    await network.stop();
  });

  it('is replaced for the next call when it has failed, and its connections end with it', async () => {
    const network = new NetworkProcess(ownEntry);
    const first = await openCall(network);
    const socket = connect(first.port, '127.0.0.1');
    await once(socket, 'connect');
    const ended = new Promise((resolve) => {
      socket.on('error', () => undefined).once('close', resolve);
      socket.resume();
    });
    await network.stop();
    await ended;
    expect((await first.call.close()).sentences).toEqual(['The proxy failed while the command ran.']);
    const second = await openCall(network);
    expect(await second.call.close()).toEqual({ sentences: [], omitted: 0 });
    await network.stop();
  });
});

async function openCall(network: NetworkProcess) {
  const listener = createListener();
  const port = await listening(listener);
  return { call: await network.open(listener, { kind: 'public' }), port };
}

async function listening(server: ReturnType<typeof createListener>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Nothing listens.');
  return address.port;
}
