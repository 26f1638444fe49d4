import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from './rig/caller.js';
import { Deployment } from './rig/deployment.js';
import { EnvironmentDeployment, EnvironmentFolder } from './rig/environment.js';
import { Repository } from './rig/repository.js';

/** Says something to the proxy of the call, by the shell's own means, and prints what comes back. */
const say = (words: string): string =>
  `exec 9<>/dev/tcp/127.0.0.1/61280 && printf '${words}' >&9 && timeout 20 cat <&9; true`;
const get = (url: string, header = 'Host: x'): string =>
  say(`GET ${url} HTTP/1.1\\r\\n${header}\\r\\nConnection: close\\r\\n\\r\\n`);
const tunnel = (target: string, header = 'Host: x'): string =>
  say(`CONNECT ${target} HTTP/1.1\\r\\n${header}\\r\\n\\r\\n`);

describe('an attack on the network of a worker as it is', () => {
  let environment: EnvironmentFolder;
  let deployment: EnvironmentDeployment;
  let caller: Caller;

  beforeAll(async () => {
    environment = new EnvironmentFolder();
    environment.addRepository('open', 'a');
    environment.addRepository('listed', 'a');
    environment.addRepository('closed', 'a');
    environment.define(
      'name: primary',
      `root: ${environment.root}`,
      'linkedWorktreeLanes: true',
      'repositories:',
      '  - { path: open, network: public }',
      '  - { path: listed, network: { allow: [registry.example] } }',
      '  - { path: closed, network: none }',
    );
    deployment = await EnvironmentDeployment.start(environment, { slots: 2 });
    caller = deployment.caller();
  });
  afterAll(async () => {
    await deployment.stop();
    environment.remove();
  });

  const runIn = (repository: string, command: string) => caller.run(command, 'a', { more: { repository } });

  it.each([
    [
      'IP literals',
      ['127.0.0.1', '10.0.0.1', '192.168.0.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0'],
    ],
    ['metadata addresses', ['169.254.169.254', '100.100.100.200', '168.63.129.16', '[fd00:ec2::254]']],
    [
      'IPv6 forms',
      ['[::1]', '[::]', '[fe80::1]', '[fc00::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]'],
    ],
    [
      'IPv6 forms that carry an address',
      ['[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]'],
    ],
    ['names of this machine', ['localhost', 'LOCALHOST.', 'localhost.localdomain']],
  ])('by %s is refused where all that is public is open', async (_, hosts) => {
    for (const host of hosts) {
      const { stdout } = await runIn('open', `(${get(`http://${host}/`)}); (${tunnel(`${host}:443`)})`);
      // A name that nobody resolves leads nowhere either.
      const refusals = host.startsWith('localhost.') ? /HTTP\/1\.1 (?:403|502)/gu : /HTTP\/1\.1 403/gu;
      expect([host, stdout.match(refusals)?.length, stdout.includes('HTTP/1.1 200')]).toEqual([
        host,
        2,
        false,
      ]);
    }
  });

  it('by CONNECT to other ports is refused, of allowed hosts too, with what would allow it', async () => {
    const denial = (repository: string, target: string) =>
      repository === 'open'
        ? `${target} is refused: a public network opens the ports 80 and 443 only. The operator can allow it: put \`network: allow:\` with "${target}", and with every other domain that is needed, in place of \`network: public\` of the repository "open" in the environment's definition and restart the worker.`
        : `${target} is not on the list of allowed domains. The operator can allow it: add "${target}" to \`network: allow:\` of the repository "listed" in the environment's definition and restart the worker.`;
    for (const port of [22, 25, 53, 2375, 6379, 8080]) {
      for (const repository of ['open', 'listed']) {
        const { stdout, stderr } = await runIn(repository, tunnel(`registry.example:${port}`));
        expect(stdout).toContain('403 Refused');
        expect(stderr).toBe(`codelanes: Network: ${denial(repository, `registry.example:${port}`)}\n`);
      }
    }
  });

  it("by another lane's proxy credentials gets nothing: there are none, and a lane has no proxy but its own", async () => {
    const { stdout: known } = await runIn('open', 'env | grep -i proxy');
    expect(known).toContain('http://127.0.0.1:61280');
    expect(known).not.toContain('@');
    const credentials = `Proxy-Authorization: Basic ${Buffer.from('open:a').toString('base64')}`;
    const claimed = await runIn('listed', tunnel('public.example:443', credentials));
    expect(claimed.stdout).toContain('public.example:443 is not on the list of allowed domains');
    const none = await runIn('closed', tunnel('public.example:443', credentials));
    expect([none.stdout, none.stderr.includes('Connection refused')]).toEqual(['', true]);
  });
});

describe('an attack by names and answers', () => {
  let repository: Repository;
  let deployment: Deployment;
  let secret: Server;
  let redirecting: Server;
  let port: number;
  let reached: string[] = [];
  const names = ['registry', 'inside', 'beside', 'v6', 'mapped', 'translated', 'rebinding'];

  beforeAll(async () => {
    secret = createServer((request, response) => {
      reached.push(request.url ?? '');
      response.end('secret\n');
    });
    redirecting = createServer((request, response) => {
      const [, to] = /^\/to\/(.*)$/u.exec(request.url ?? '') ?? [];
      if (to === undefined) response.end('open\n');
      else response.writeHead(302, { location: `http://${to}:${port}/` }).end();
    });
    // The same port, so that nothing but the address keeps a connection from the secret.
    port = await listenAtOnePort([secret, '127.0.0.3'], [redirecting, '127.0.0.1']);
    repository = Repository.create('a');
    const domains = names.map((name) => ({ host: `${name}.example`, subdomains: false, ports: [port] }));
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
    for (const server of [secret, redirecting]) server.close();
    repository.remove();
  });
  afterEach(() => {
    reached = [];
  });

  const run = (command: string) => deployment.caller().run(command, 'a');

  it('leaves what is allowed as it was', async () => {
    expect((await run(get(`http://registry.example:${port}/`))).stdout).toContain('open\n');
  });

  it('by a redirect to a private address is refused when it is followed', async () => {
    for (const to of ['127.0.0.3', 'inside.example']) {
      const answer = await run(get(`http://registry.example:${port}/to/${to}`));
      expect(answer.stdout.toLowerCase()).toContain(`location: http://${to}:${port}/`);
      expect((await run(get(`http://${to}:${port}/`))).stdout).toContain('403 Forbidden');
    }
    expect(reached).toEqual([]);
  });

  it('by an allowed name that leads inside is refused, in every form of the answer', async () => {
    for (const name of ['inside', 'v6', 'mapped', 'translated']) {
      const target = `${name}.example:${port}`;
      const { stdout, stderr } = await run(`(${get(`http://${target}/`)}); (${tunnel(target)})`);
      expect(stdout.match(/HTTP\/1\.1 403/gu)).toHaveLength(2);
      expect(stderr).toContain(`${target} is refused: it leads to an address that is not public`);
    }
    const beside = await run(get(`http://beside.example:${port}/`));
    expect(beside.stdout).toContain('open\n');
    expect(reached).toEqual([]);
  });

  it('by rebinding is refused: what was checked is what is connected to', async () => {
    const target = `rebinding.example:${port}`;
    for (const answer of ['open\n', '403 Forbidden', 'open\n', '403 Forbidden']) {
      expect((await run(get(`http://${target}/`))).stdout).toContain(answer);
    }
    expect(reached).toEqual([]);
  });
});

/** Has both listen at a port that is free at both addresses. */
async function listenAtOnePort(
  [first, firstHost]: readonly [Server, string],
  [second, secondHost]: readonly [Server, string],
): Promise<number> {
  for (;;) {
    await listen(first, 0, firstHost);
    const free = portOf(first);
    const isFree = await listen(second, free, secondHost).then(
      () => true,
      () => false,
    );
    if (isFree) return free;
    await new Promise((resolve) => first.close(resolve));
  }
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Nothing listens.');
  return address.port;
}
