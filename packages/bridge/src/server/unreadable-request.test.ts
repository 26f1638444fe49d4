import { connect } from 'node:net';
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { TestBridge } from './testing/test-bridge.js';

it.each([
  ['this is not HTTP\r\n\r\n', 'it is not HTTP/1.1'],
  ['POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc', 'it ended before it was whole'],
])('tells the operator why it turned a request away: %j', async (sent, why) => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  const bridge = await TestBridge.start({}, log);
  try {
    const socket = connect(bridge.port, '127.0.0.1').on('error', () => undefined);
    socket.resume().end(sent);
    await vi.waitFor(() => {
      expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ msg: 'turned away', why }]);
    }, 30_000);
  } finally {
    await bridge.close();
  }
});
