import { describe, expect, it } from 'vitest';
import { errorLines } from '../errors/print-error.js';
import { parseBridgeUrl } from './bridge-url.js';

function errorOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

describe('parseBridgeUrl', () => {
  it.each(['http://127.0.0.1:4180', 'http://localhost:1', 'http://[::1]:1', 'https://bridge.example.org'])(
    'takes %s',
    (url) => {
      expect(parseBridgeUrl(`${url}/`, false)).toBe(url);
    },
  );

  it.each(['http://192.168.0.7:4180', 'http://bridge.example.org', 'http://127.evil.example.org'])(
    'carries no token in clear text to %s, unless it was asked for',
    (url) => {
      expect(() => parseBridgeUrl(url, false)).toThrow('clear text');
      expect(parseBridgeUrl(url, true)).toBe(url);
    },
  );

  it.each([
    ['127.0.0.1:4180', 'http://127.0.0.1:4180'],
    ['localhost:4180', 'http://localhost:4180'],
    ['bridge.example.org', 'https://bridge.example.org'],
  ])('shows how %s was meant', (text, meant) => {
    expect(errorLines(errorOf(() => parseBridgeUrl(text, false)))[1]).toBe(`Give one like ${meant}.`);
  });

  it.each(['bridge', '', 'ftp://bridge.example.org', '127.0.0.1:4180'])('refuses "%s"', (text) => {
    expect(() => parseBridgeUrl(text, true)).toThrow('no address of a bridge');
  });
});
