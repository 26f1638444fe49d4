import fc from 'fast-check';
import { isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import { domainPatternSchema, networkPolicySchema, patternAllows } from './network-policy.js';

const pattern = (text: string) => domainPatternSchema.parse(text);

describe('domainPatternSchema', () => {
  it.each([
    ['example.org', { host: 'example.org', subdomains: false, ports: [80, 443] }],
    ['*.Example.ORG', { host: 'example.org', subdomains: true, ports: [80, 443] }],
    ['xn--bcher-kva.example:8443', { host: 'xn--bcher-kva.example', subdomains: false, ports: [8443] }],
  ])('reads %s', (text, parsed) => {
    expect(pattern(text)).toEqual(parsed);
  });

  it.each([
    '',
    '*',
    '*.org',
    'localhost',
    'example.org.',
    '.example.org',
    'a..b.org',
    '-a.org',
    'a-.org',
    'a_b.org',
    'bücher.example',
    '127.0.0.1',
    '0x7f.1',
    '1.2.3.4:80',
    '::1',
    '[::1]:443',
    '2130706433',
    'https://example.org',
    'example.org/a',
    'a@example.org',
    'example.org:0',
    'example.org:65536',
    'example.org:080',
    'a.*.org',
    'ex*mple.org',
    `${'a'.repeat(64)}.org`,
    `${'a.'.repeat(127)}org`,
  ])('refuses "%s"', (text) => {
    expect(domainPatternSchema.safeParse(text).success).toBe(false);
  });

  it('takes no text for a domain that a URL would take for an address', () => {
    const part = fc.oneof(fc.nat(300).map(String), fc.constantFrom('0x7f', 'a', '0', '00'));
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const text = parts.join('.');
        const taken = domainPatternSchema.safeParse(text).success;
        return !taken || isIP(new URL(`http://${text}`).hostname) === 0;
      }),
    );
  });
});

describe('patternAllows', () => {
  it.each([
    ['example.org', 'example.org', 443, true],
    ['example.org', 'EXAMPLE.org.', 80, true],
    ['example.org', 'a.example.org', 443, false],
    ['example.org', 'notexample.org', 443, false],
    ['example.org', 'example.org', 22, false],
    ['example.org:22', 'example.org', 443, false],
    ['*.example.org', 'a.b.example.org', 443, true],
    ['*.example.org', 'example.org', 443, false],
    ['*.example.org', 'badexample.org', 443, false],
  ])('%s opens %s:%d: %s', (text, host, port, allowed) => {
    expect(patternAllows(pattern(text), host, port)).toBe(allowed);
  });
});

describe('networkPolicySchema', () => {
  it('reads none, public and an allow-list', () => {
    expect(networkPolicySchema.parse('none')).toEqual({ kind: 'none' });
    expect(networkPolicySchema.parse('public')).toEqual({ kind: 'public' });
    expect(networkPolicySchema.parse({ allow: ['example.org'] })).toEqual({
      kind: 'allowed',
      domains: [pattern('example.org')],
    });
  });
});
