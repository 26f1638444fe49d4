import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameOf, parseConnectTarget, parseRequestTarget } from './target.js';

describe('the target of a tunnel', () => {
  it('is a host and a port', () => {
    expect(parseConnectTarget('example.org:443')).toEqual({
      host: 'example.org',
      isAddress: false,
      port: 443,
    });
    expect(parseConnectTarget('[2606:4700::1]:443')).toEqual({
      host: '2606:4700::1',
      isAddress: true,
      port: 443,
    });
  });

  it('has one form, whatever its letters and its final dot', () => {
    for (const written of ['EXAMPLE.org:443', 'example.org.:443', 'Example.Org.:0443']) {
      expect(parseConnectTarget(written)).toEqual({ host: 'example.org', isAddress: false, port: 443 });
    }
  });

  it.each([
    ['decimal', '2130706433'],
    ['octal', '0177.0.0.1'],
    ['hexadecimal', '0x7f.0x0.0x0.0x1'],
    ['one hexadecimal figure', '0x7f000001'],
    ['short', '127.1'],
    ['with a final dot', '127.0.0.1.'],
  ])('is known as an address when it is written %s', (_form, written) => {
    expect(parseConnectTarget(`${written}:443`)).toEqual({ host: '127.0.0.1', isAddress: true, port: 443 });
  });

  it.each([
    'example.org',
    'example.org:',
    'example.org:0',
    'example.org:65536',
    'example.org:443:80',
    'example.org:+443',
    'user@example.org:443',
    'user:secret@example.org:443',
    'example.org:443/path',
    'http://example.org:443',
    'example..org:443',
    '..:443',
    '.:443',
    'ex%61mple.org:443',
    'bücher.example:443',
    'ｅxample.org:443',
    '::1:443',
    '[::1:443',
    '[::1%25lo]:443',
    '[example.org]:443',
    '999.1.1.1:443',
    '',
    '*',
  ])('is not read out of %j', (text) => {
    expect(parseConnectTarget(text)).toBeUndefined();
  });
});

describe('the target of a plain request', () => {
  it('keeps path and query as they were written', () => {
    expect(parseRequestTarget('http://Registry.Example/@scope%2Fname/../x?q=a/b')).toEqual({
      host: 'registry.example',
      isAddress: false,
      port: 80,
      path: '/@scope%2Fname/../x?q=a/b',
      authority: 'registry.example',
    });
    expect(parseRequestTarget('HTTP://registry.example:8080?q')).toMatchObject({
      path: '/?q',
      authority: 'registry.example:8080',
    });
    expect(parseRequestTarget('http://[2606:4700::1]')).toMatchObject({
      path: '/',
      authority: '[2606:4700::1]',
    });
  });

  it.each([
    '/path',
    'https://example.org/',
    'ftp://example.org/',
    'file:///etc/passwd',
    'http:/example.org/',
    'http:example.org',
    'http://',
    'http:///path',
    'http://user@example.org/',
    'http://user:secret@example.org/',
    'http://allowed.example@evil.example/',
    'http://allowed.example\\@evil.example/',
    'http://allowed.example#@evil.example/',
    'http://example.org/#fragment',
    'http://example.org/\u0000',
    'http://example.org/a b',
    'http://example.org/ü',
    'http://exa mple.org/',
    'http://example.org:80:443/',
    'http://example.org:/',
  ])('is not read out of %j', (text) => {
    expect(parseRequestTarget(text)).toBeUndefined();
  });

  it('is never another host than a browser would go to', () => {
    const piece = fc.constantFrom(
      'a.example',
      'b.example',
      '@',
      ':',
      '/',
      '\\',
      '#',
      '?',
      '.',
      '%40',
      '80',
      '[',
      ']',
      '0x7f.1',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = `http://${pieces.join('')}`;
        const target = parseRequestTarget(text);
        if (target === undefined) return;
        const url = new URL(text);
        expect([url.hostname.replace(/\.$/, ''), Number(url.port || '80'), url.username]).toEqual([
          target.host,
          target.port,
          '',
        ]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('has the name by which people know it', () => {
    expect(nameOf({ host: '2606:4700::1', isAddress: true, port: 443 })).toBe('[2606:4700::1]:443');
    expect(nameOf({ host: 'example.org', isAddress: false, port: 80 })).toBe('example.org:80');
  });
});
