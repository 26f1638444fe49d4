import { connect } from 'node:net';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { commandBody, execute, untilQueued } from './testing/requests.js';
import { TestBridge, testTokens } from './testing/test-bridge.js';
import { TestWorker } from './testing/test-worker.js';

describe('a bridge that stops', () => {
  it('takes waiting calls back, lets running ones end, refuses new ones, and then stops listening', async () => {
    const bridge = await TestBridge.start({ drainMs: 600_000 });
    const worker = await TestWorker.registered(bridge);
    const running = execute(bridge, commandBody());
    const assignment = await worker.next();
    const own = { headers: { 'x-codelanes-client': '1' } };
    const [waits, waitsToo] = [execute(bridge, commandBody()), execute(bridge, commandBody(), own)];
    await untilQueued(bridge, 2);
    const poll = worker.poll(25_000);
    const closing = bridge.close();
    // LibreChat repeats a call after one code only.
    const toLibreChat = {
      status: 503,
      headers: { 'retry-after': '1' },
      json: { code: 'WORKSPACE_QUEUE_TIMEOUT', error: 'The bridge is stopping; the call did not start.' },
    };
    const toOwn = { status: 503, json: { code: 'BRIDGE_STOPPING' } };
    expect(await waits).toMatchObject(toLibreChat);
    expect(await waitsToo).toMatchObject(toOwn);
    expect(await execute(bridge, commandBody())).toMatchObject(toLibreChat);
    expect(await execute(bridge, commandBody(), own)).toMatchObject(toOwn);
    await worker.settleCommand(assignment);
    expect((await running).status).toBe(200);
    expect((await poll).assignments).toEqual([]);
    await closing;
    await expect(bridge.send('/healthz')).rejects.toThrow('ECONNREFUSED');
  });

  it('says that the outcome is unknown of what did not end in time', async () => {
    const bridge = await TestBridge.start({ drainMs: 20 });
    const worker = await TestWorker.registered(bridge);
    const running = execute(bridge, commandBody());
    await worker.start(await worker.next());
    const closing = bridge.close();
    expect(await running).toMatchObject({ status: 504, json: { code: 'ASSIGNMENT_EXPIRED' } });
    await closing;
  });

  it('stops although a client holds a half-sent request open, and may be asked twice', async () => {
    const bridge = await TestBridge.start();
    const socket = connect(bridge.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('POST /v1/workspace-tools/execute HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{');
    await bridge.send('/healthz');
    await expect(Promise.all([bridge.close(), bridge.close()])).resolves.toEqual([undefined, undefined]);
  });
});

describe('the log of a bridge', () => {
  it('has a line per request with its id, and no token, body, query or path of files', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'debug' }, { write: (line) => void lines.push(line) });
    const bridge = await TestBridge.start({}, log);
    const secret = 'content-that-nobody-may-log';
    const body = {
      protocolVersion: 1,
      operation: 'write_file',
      workspaceId: 'primary',
      path: secret,
      content: secret,
    };
    const answers = [
      await execute(bridge, body),
      await execute(bridge, `{"${secret}"`),
      await bridge.send(`/v1/calls/${'a'.repeat(32)}?after=${secret}`, { as: 'caller' }),
      await bridge.send(`/${secret}`),
    ];
    await bridge.close();
    const logged = lines.join('');
    for (const { headers } of answers) expect(logged).toContain(String(headers['x-request-id']));
    for (const unwanted of [secret, ...Object.values(testTokens)]) expect(logged).not.toContain(unwanted);
  });
});
