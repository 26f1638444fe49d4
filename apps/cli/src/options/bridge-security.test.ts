import { expect, it } from 'vitest';
import { refuseClearText, securityOf } from './bridge-security.js';

it('keeps pairings in the state folder, or in the Redis that bridges share', () => {
  expect(securityOf({}, 'memory', '/state')).toEqual({
    pairing: { requireBinding: false, file: '/state/pairings.json' },
  });
  expect(securityOf({ requireBinding: true }, 'redis', '/state')).toEqual({
    pairing: { requireBinding: true },
  });
});

it('takes keys from a file or an address', () => {
  expect(securityOf({ jwtKeys: 'https://x/jwks' }, 'redis', '/state')).toMatchObject({
    jwt: { keys: { url: 'https://x/jwks' } },
  });
  expect(securityOf({ jwtKeys: 'key.pem', jwtIssuer: 'me' }, 'redis', '/state')).toMatchObject({
    jwt: { keys: { file: 'key.pem' }, issuer: 'me' },
  });
});

it.each([[{ tlsCert: 'c' }], [{ tlsKey: 'k' }], [{ jwtIssuer: 'me' }], [{ jwtAudience: 'us' }]])(
  'refuses flags that say nothing without others: %j',
  (flags) => {
    expect(() => securityOf(flags, 'memory', '/state')).toThrow();
  },
);

it('takes no token in clear text from another machine, unless that was asked for', () => {
  expect(() => {
    refuseClearText({ host: '0.0.0.0' });
  }).toThrow('clear text');
  for (const flags of [
    { host: '127.0.0.1' },
    { host: '0.0.0.0', tlsCert: 'cert.pem' },
    { host: '0.0.0.0', insecureHttp: true },
  ]) {
    expect(() => {
      refuseClearText(flags);
    }).not.toThrow();
  }
});
