import { expect, it } from 'vitest';
import { isUntrusted } from './untrusted-certificate.js';

it.each([
  [Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), true],
  [Object.assign(new Error('reset'), { code: 'ECONNRESET' }), false],
  [new Error('self-signed certificate'), false],
  ['CERT_HAS_EXPIRED', false],
])('tells a certificate that is not trusted by its code: %s', (error, expected) => {
  expect(isUntrusted(error)).toBe(expected);
});
