import { describe, expect, it } from 'vitest';
import { compileBridgeOptions } from './bridge-options.js';

const tokens = {
  callers: ['caller-0123456789abc'],
  admin: 'admin-0123456789abcd',
  worker: 'worker-0123456789abc',
};

describe('the options of a bridge', () => {
  it('need nothing but tokens, and bind to this machine alone', () => {
    expect(compileBridgeOptions({ tokens })).toMatchObject({
      listen: { host: '127.0.0.1' },
      routes: { clientGeneration: 'A', slots: 8, filePool: 16, leaseTtlMs: 30_000, renewEveryMs: 5_000 },
      scheduler: { queueLength: 1_000, principalQueueLength: 500, placeKeptMs: 3_000 },
      store: { kind: 'memory' },
      rateLimit: { calls: 600, windowMs: 30_000 },
    });
  });

  it('give one caller half of the queue, unless another share is named', () => {
    const shareOf = (scheduler: object) =>
      compileBridgeOptions({ tokens, scheduler }).scheduler.principalQueueLength;
    expect([shareOf({ queueLength: 1 }), shareOf({ queueLength: 9 })]).toEqual([1, 5]);
    expect(shareOf({ queueLength: 9, principalQueueLength: 2 })).toBe(2);
  });

  it.each(['0.0.0.0', '::', '192.168.1.4', 'bridge.example', '127.example.org'])(
    'refuse host %s unless it is asked for',
    (host) => {
      expect(() => compileBridgeOptions({ tokens, host })).toThrow(/option host: .*allowNonLoopback/);
      expect(compileBridgeOptions({ tokens, host, allowNonLoopback: true }).listen.host).toBe(host);
    },
  );

  it.each(['localhost', '127.0.0.1', '127.8.9.10', '::1'])('take host %s', (host) => {
    expect(compileBridgeOptions({ tokens, host }).listen.host).toBe(host);
  });

  it('refuse one token for two kinds of clients, and weak ones', () => {
    expect(() => compileBridgeOptions({ tokens: { ...tokens, admin: tokens.worker } })).toThrow(
      /option tokens: /,
    );
    expect(() => compileBridgeOptions({ tokens: { ...tokens, admin: 'short' } })).toThrow(
      /option tokens.admin: /,
    );
    expect(() => compileBridgeOptions({ tokens: { ...tokens, callers: [] } })).toThrow(
      /option tokens.callers: /,
    );
  });

  it.each([
    [{ slots: 0 }, /slots/],
    [{ slots: 9 }, /slots/],
    [{ filePool: 17 }, /filePool/],
    [{ port: 65_536 }, /port/],
    [{ scheduler: { queueLength: 0 } }, /scheduler.queueLength/],
    [{ store: { kind: 'redis', url: 'http://127.0.0.1' } } as const, /store.url/],
    [{ store: { kind: 'redis', url: 'redis://127.0.0.1', prefix: 'a{b}' } } as const, /store.prefix/],
    [{ rateLimit: { calls: 0, windowMs: 1 } }, /rateLimit/],
  ])('refuse %o and name the option', (options, named) => {
    expect(() => compileBridgeOptions({ tokens, ...options })).toThrow(named);
  });
});
