import { expect, it } from 'vitest';
import { isLoopbackHost, isLoopbackUrl } from './loopback.js';

it.each(['http://localhost:80', 'http://127.0.0.1', 'http://127.1', 'http://[::1]:3080'])(
  'is what %s leads to',
  (url) => {
    expect(isLoopbackUrl(new URL(url))).toBe(true);
  },
);

it.each(['http://127.example.org', 'http://localhost.example.org', 'http://10.0.0.1', 'http://[::2]'])(
  'is not what %s leads to',
  (url) => {
    expect(isLoopbackUrl(new URL(url))).toBe(false);
  },
);

it.each(['[::1]', '127.1', '127.0.0.256', '127.0.0.1.example.org', ''])('is not the host "%s"', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});
