import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LaneFixture, type FixtureOptions } from '../commands/testing/lane-fixture.js';
import type { CommandOutcome } from '../commands/execute-command.js';
import { listenerProgram, needsNode, proxyAddress } from './listener-program.js';
import { InProcessNetwork } from './testing/in-process-network.js';
import { Origin } from './testing/origin.js';
import { closed, domain } from './testing/proxy-under-test.js';

let fixture: LaneFixture;
beforeAll(() => {
  fixture = new LaneFixture(['a', 'b']);
});
afterAll(() => {
  fixture.remove();
});

let origin: Origin;
let networkHost: InProcessNetwork;
beforeEach(async () => {
  origin = await Origin.start();
  networkHost = new InProcessNetwork({
    lookup: () => Promise.resolve(['127.0.0.1']),
    permits: (address) => address === '127.0.0.1',
  });
});
afterEach(() => {
  origin.close();
});

/** Runs a command whose lane may reach the origin as registry.example. */
function run(command: string, options: FixtureOptions = {}): Promise<CommandOutcome> {
  const network = { kind: 'allowed', domains: [domain('registry.example', origin.port)] } as const;
  return fixture.inWorktree('a', command, { network, networkHost, ...options });
}

/** Says a request to an address by the shell's own means, and prints the answer. */
const say = (words: string, host: string = proxyAddress.host, port: number = proxyAddress.port): string =>
  `exec 9<>/dev/tcp/${host}/${port} && printf '${words}' >&9 && cat <&9`;

const get = (url: string): string =>
  say(`GET ${url} HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n`);

describe('a walled command with a network', () => {
  it('reaches an allowed host through the proxy', async () => {
    const { stdout, stderr } = await run(get(`http://registry.example:${origin.port}/`));
    expect(stdout).toContain('of the origin\n');
    expect(stderr).toBe('');
  });

  it('finds the proxy by the usual variables: Git does', async () => {
    const bare = `${fixture.folder}/served.git`;
    fixture.host(
      `git clone -q --bare . '${bare}' && git -C '${bare}' update-server-info && cat '${bare}/info/refs'`,
    );
    const refs = fixture.host(`cat '${bare}/info/refs'`);
    const served = await Origin.start((request, response) => {
      if (request.url?.startsWith('/served.git/info/refs') === true) response.end(refs);
      else response.writeHead(404).end();
    });
    const { stdout } = await run(`git ls-remote http://git.example:${served.port}/served.git`, {
      network: { kind: 'allowed', domains: [domain('git.example', served.port)] },
    });
    served.close();
    expect(stdout).toContain('refs/heads/main');
  });

  it('has no other way out, and no way to this machine', async () => {
    const { exitCode, stdout } = await run(
      `(${say('x', '127.0.0.1', origin.port)}) 2>/dev/null && echo out; (${say('x', '93.184.215.14', 80)}) 2>/dev/null && echo out; cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d " "`,
    );
    expect([exitCode, stdout]).toEqual([0, 'lo\n']);
    expect(origin.sockets).toEqual([]);
  });

  it('is told at the end which hosts were denied and how the operator can allow them', async () => {
    const { stderr, exitCode } = await run(
      `${get('http://other.example/')}; ${say('CONNECT other.example:8443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')}; echo last words >&2; exit 3`,
    );
    expect(exitCode).toBe(3);
    expect(stderr).toBe(
      [
        'last words',
        'codelanes: Network: other.example:80 is not on the list of allowed domains. The operator can allow it: add "other.example" to `network: allow:` in the environment\'s definition and restart the worker.',
        'codelanes: Network: other.example:8443 is not on the list of allowed domains. The operator can allow it: add "other.example:8443" to `network: allow:` in the environment\'s definition and restart the worker.',
        '',
      ].join('\n'),
    );
  });

  it("cannot use another lane's network: it has an address in that lane's namespace only", async () => {
    const other = fixture.inWorktree('b', get(`http://registry.example:${origin.port}/`), {
      network: { kind: 'allowed', domains: [domain('other.example', origin.port)] },
      networkHost,
    });
    const none = fixture.inWorktree('b', get(`http://registry.example:${origin.port}/`));
    const allowed = run(get(`http://registry.example:${origin.port}/`));
    expect((await other).stdout).toContain('403 Forbidden');
    expect(await none).toMatchObject({ exitCode: 1, stdout: '' });
    expect((await allowed).stdout).toContain('of the origin');
    expect(origin.seen).toHaveLength(1);
  });

  it('leaves no connection behind, however it ended', async () => {
    const tunnel = `exec 9<>/dev/tcp/${proxyAddress.host}/${proxyAddress.port}; printf 'CONNECT registry.example:${origin.port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&9; head -n 1 <&9`;
    const left = await run(`${tunnel}; setsid sleep 60 & exit 0`);
    const late = await run(`${tunnel}; sleep 60`, { timeoutMs: 6_000, graceMs: 0 });
    expect([left, late].map(({ stdout }) => stdout)).toEqual(
      Array(2).fill('HTTP/1.1 200 Connection established\r\n'),
    );
    expect([left.exitCode, late.timedOut]).toEqual([0, true]);
    expect(origin.sockets).toHaveLength(2);
    for (const socket of origin.sockets) await closed(socket);
  });

  it('inherits nothing by which the listener was handed out', async () => {
    const { stdout } = await run('ls /proc/self/fd; env | grep NODE_CHANNEL; true');
    expect(stdout).toBe('0\n1\n2\n3\n');
  });

  it('gets its listener from Node where the machine has no Perl', async () => {
    const withoutPerl = { arch: process.arch };
    expect(needsNode(withoutPerl)).toBe(true);
    const host = new InProcessNetwork(
      { lookup: () => Promise.resolve(['127.0.0.1']), permits: () => true },
      listenerProgram(withoutPerl),
    );
    const { stdout } = await run(get(`http://registry.example:${origin.port}/`), {
      networkHost: host,
      machine: { ...fixture.machine, perl: undefined },
    });
    expect(stdout).toContain('of the origin\n');
  });

  it('is not started when its network cannot be had', async () => {
    const broken = { listenerProgram: ['/bin/false'], open: () => Promise.reject(new Error('unreachable')) };
    await expect(run('touch ran', { networkHost: broken })).rejects.toMatchObject({
      code: 'COMMAND_UNAVAILABLE',
    });
    const refusing = { ...broken, listenerProgram: networkHost.listenerProgram };
    await expect(run('touch ran', { networkHost: refusing })).rejects.toThrow('unreachable');
    await expect(run('touch ran', { networkHost: undefined })).rejects.toThrow('nobody gives it one');
    expect((await run('ls')).stdout).toBe('file\n');
  });

  it('has no proxy where its policy has no network', async () => {
    const { stdout } = await fixture.inWorktree(
      'a',
      'env | grep -i proxy; cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d " "',
    );
    expect(stdout).toBe('lo\n');
  });

  it('may use the port of the proxy of another call at the same time, and any port of its own', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(proxyAddress.port, '127.0.0.1', resolve));
    const runs = await Promise.all([
      run(get(`http://registry.example:${origin.port}/`)),
      fixture.inWorktree('b', get(`http://registry.example:${origin.port}/`), {
        networkHost,
        network: { kind: 'allowed', domains: [domain('registry.example', origin.port)] },
      }),
    ]);
    server.close();
    expect(runs.map(({ stdout }) => stdout.includes('of the origin'))).toEqual([true, true]);
  });
});
