import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { TestBridge } from './testing/test-bridge.js';

/** Whether something listens there, on all addresses or on this. All of 127.0.0.0/8 is this machine. */
async function isHeard(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** An address of this machine on which nothing else of these tests listens. */
const elsewhere = '127.93.51.7';

it.each([
  [undefined, '127.0.0.1', false],
  [elsewhere, elsewhere, true],
])('a bridge with the host %s listens on %s', async (host, address, isElsewhere) => {
  const bridge = await TestBridge.start(host === undefined ? {} : { host });
  try {
    expect(await isHeard(address, bridge.port)).toBe(true);
    expect(await isHeard(elsewhere, bridge.port)).toBe(isElsewhere);
  } finally {
    await bridge.close();
  }
});
