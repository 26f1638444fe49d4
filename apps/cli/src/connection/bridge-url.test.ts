import { describe, expect, it } from 'vitest';
import { parseBridgeUrl } from './bridge-url.js';

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

  it.each(['bridge', '', 'ftp://bridge.example.org', '127.0.0.1:4180'])('refuses "%s"', (text) => {
    expect(() => parseBridgeUrl(text, true)).toThrow('no address of a bridge');
  });
});
