import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mostConnections } from './call-proxy.js';
import { Origin } from './testing/origin.js';
import { closed, domain, ProxyUnderTest, statusOf } from './testing/proxy-under-test.js';

const resolution = {
  lookup: () => Promise.resolve(['127.0.0.1']),
  permits: (address: string) => address === '127.0.0.1',
};

let origin: Origin;
let proxy: ProxyUnderTest;
let host: string;
beforeEach(async () => {
  origin = await Origin.start();
  host = `registry.example:${origin.port}`;
  proxy = await ProxyUnderTest.start(
    { kind: 'allowed', domains: [domain('registry.example', origin.port)] },
    resolution,
  );
});
afterEach(() => {
  proxy.close();
  origin.close();
});

describe('a plain request through the proxy', () => {
  it('is asked for at its target and answered', async () => {
    const answer = await proxy.say(
      `GET http://${host}/pkg?v=1 HTTP/1.1\r\nHost: ${host}\r\nAccept: */*\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain('of the origin\n');
    expect(origin.seen).toEqual([
      { method: 'GET', url: '/pkg?v=1', headers: { accept: '*/*', host, connection: 'close' }, body: '' },
    ]);
  });

  it('keeps its body, whichever way that was framed', async () => {
    await proxy.say(
      `PUT http://${host}/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello`,
    );
    await proxy.say(
      `DELETE http://${host}/b HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    );
    expect(origin.seen.map(({ method, body }) => [method, body])).toEqual([
      ['PUT', 'hello'],
      ['DELETE', 'hello'],
    ]);
  });

  it('can follow another on the same connection, to another place', async () => {
    const other = await Origin.start((_request, response) => response.end('of the other\n'));
    const both = await ProxyUnderTest.start(
      {
        kind: 'allowed',
        domains: [domain('registry.example', origin.port), domain('other.example', other.port)],
      },
      resolution,
    );
    const answer = await both.say(
      `GET http://${host}/ HTTP/1.1\r\nHost: x\r\n\r\nGET http://other.example:${other.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect([answer.includes('of the origin'), answer.includes('of the other')]).toEqual([true, true]);
    both.close();
    other.close();
  });

  it('loses the headers that are meant for the proxy, both ways', async () => {
    origin.close();
    origin = await Origin.start((_request, response) => {
      response
        .writeHead(200, { connection: 'x-hop', 'x-hop': '1', 'x-end': '2', 'proxy-authenticate': 'Basic' })
        .end();
    });
    const own = await ProxyUnderTest.start(
      { kind: 'allowed', domains: [domain('registry.example', origin.port)] },
      resolution,
    );
    const answer = await own.say(
      `GET http://registry.example:${origin.port}/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic c2VjcmV0\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nConnection: X-Mine, close\r\nX-Mine: 1\r\nX-End: 2\r\n\r\n`,
    );
    expect(Object.keys(origin.seen[0]?.headers ?? {}).sort()).toEqual(['connection', 'host', 'x-end']);
    expect(answer).toContain('x-end: 2');
    expect(answer).not.toMatch(/x-hop|proxy-authenticate/);
    own.close();
  });

  it('is answered where the other side cannot be reached or speaks no HTTP', async () => {
    origin.close();
    expect(await proxy.get(`http://${host}/`)).toBe(502);
    const garbled = await Origin.start((request) => request.socket.end('SSH-2.0-garbled\r\n'));
    const own = await ProxyUnderTest.start(
      { kind: 'allowed', domains: [domain('registry.example', garbled.port)] },
      resolution,
    );
    expect(await own.get(`http://registry.example:${garbled.port}/`)).toBe(502);
    own.close();
    garbled.close();
  });

  it('is answered where the other side changes the protocol, which nobody has asked for', async () => {
    const changing = await Origin.start((request) =>
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nx'),
    );
    const own = await ProxyUnderTest.start(
      { kind: 'allowed', domains: [domain('registry.example', changing.port)] },
      resolution,
    );
    const upgrade = ['Host: x', 'Connection: Upgrade', 'Upgrade: x'];
    expect(await own.get(`http://registry.example:${changing.port}/`, upgrade)).toBe(502);
    own.close();
    changing.close();
  });
});

describe('a tunnel through the proxy', () => {
  it('carries bytes both ways, first ones included', async () => {
    const socket = await proxy.open();
    socket.write(
      `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\nGET /early HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('of the origin\n');
    expect(origin.seen.map(({ url }) => url)).toEqual(['/early']);
  });

  it('lets each side end its half', async () => {
    const { status, socket } = await proxy.tunnel(host);
    expect(status).toBe(200);
    socket.end('GET /half HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toContain('of the origin\n');
  });

  it('ends on both sides when one breaks off', async () => {
    const { socket } = await proxy.tunnel(host);
    await expect.poll(() => origin.sockets).toHaveLength(1);
    const [upstream] = origin.sockets;
    upstream?.destroy();
    await closed(socket);
    const second = await proxy.tunnel(host);
    await expect.poll(() => origin.sockets).toHaveLength(2);
    const ended = closed(origin.sockets[1] ?? second.socket);
    second.socket.destroy();
    await ended;
    expect(origin.sockets.every((one) => one.destroyed)).toBe(true);
  });
});

describe('the end of a call', () => {
  it('ends every connection, and takes no further one', async () => {
    const { socket } = await proxy.tunnel(host);
    const idle = await proxy.open();
    await expect.poll(() => origin.sockets).toHaveLength(1);
    const ended = [closed(socket), closed(idle), ...origin.sockets.map((one) => closed(one))];
    proxy.close();
    await Promise.all(ended);
    await expect(proxy.open()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('ends a connection that is still being made', async () => {
    let resolved: (addresses: string[]) => void = () => undefined;
    const lookup = () => new Promise<string[]>((resolve) => (resolved = resolve));
    const slow = await ProxyUnderTest.start(
      { kind: 'allowed', domains: [domain('registry.example', origin.port)] },
      { ...resolution, lookup },
    );
    const socket = await slow.open();
    socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const ended = closed(socket);
    // A first answer comes back for a request that is refused, so the one before was read as well.
    await slow.say('GET /malformed HTTP/1.1\r\nHost: x\r\n\r\n');
    slow.close();
    await ended;
    resolved(['127.0.0.1']);
    await proxy.get(`http://${host}/`);
    expect(origin.seen).toHaveLength(1);
    expect(origin.sockets).toHaveLength(1);
  });

  it('says what was refused', async () => {
    expect(await proxy.get('http://other.example/')).toBe(403);
    expect((await proxy.tunnel('other.example:443')).status).toBe(403);
    expect((await proxy.tunnel('other.example:443')).status).toBe(403);
    const { sentences } = proxy.close();
    expect(sentences.map((sentence) => sentence.split(' ')[0])).toEqual([
      'other.example:80',
      'other.example:443',
    ]);
  });
});

describe('the bounds of a call', () => {
  it('are as many connections at once', async () => {
    const open = await Promise.all(Array.from({ length: mostConnections }, () => proxy.open()));
    const further = await proxy.open();
    await closed(further);
    const [first] = open;
    first?.write(`CONNECT ${host} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const answer = first === undefined ? '' : String((await once(first, 'data'))[0]);
    expect(statusOf(answer)).toBe(200);
  });

  it('are headers of a bounded size', async () => {
    const answer = await proxy.say(
      `GET http://${host}/ HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`,
    );
    expect(statusOf(answer)).toBe(431);
    const many = Array.from({ length: 5_000 }, (_, number) => `X-${number}: a\r\n`).join('');
    expect(statusOf(await proxy.say(`GET http://${host}/ HTTP/1.1\r\nHost: x\r\n${many}\r\n`))).toBe(431);
    expect(statusOf(await proxy.say(`CONNECT ${host} HTTP/1.1\r\nHost: ${'h'.repeat(20_000)}\r\n\r\n`))).toBe(
      431,
    );
    expect(origin.seen).toEqual([]);
  });
});

it('ends a connection whose client takes too long over its headers, and not one whose body is slow', async () => {
  const impatient = await ProxyUnderTest.start(
    { kind: 'allowed', domains: [domain('registry.example', origin.port)] },
    resolution,
    5_000,
  );
  const slow = await impatient.open();
  slow.write(
    `PUT http://${host}/slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\na`,
  );
  await expect.poll(() => origin.sockets).toHaveLength(1);
  const silent = await impatient.open();
  silent.write(`GET http://${host}/never HTTP/1.1\r\nHost: x\r\n`);
  await closed(silent);
  slow.write('b');
  await closed(slow);
  expect(origin.seen.map(({ url, body }) => [url, body])).toEqual([['/slow', 'ab']]);
  impatient.close();
});
