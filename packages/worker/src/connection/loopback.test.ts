import { expect, it } from 'vitest';
import { isLoopback } from './loopback.js';

it.each(['http://localhost:80', 'http://127.0.0.1', 'http://127.1', 'http://[::1]:3080'])(
  'is what %s leads to',
  (url) => {
    expect(isLoopback(new URL(url))).toBe(true);
  },
);

it.each(['http://127.example.org', 'http://localhost.example.org', 'http://10.0.0.1', 'http://[::2]'])(
  'is not what %s leads to',
  (url) => {
    expect(isLoopback(new URL(url))).toBe(false);
  },
);
