import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CodelanesError, errorCodeSchema, errorKinds } from './errors.js';

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

/** What the page's table says, by code. */
const documented = Object.fromEntries(
  rows.map(([, code = '', status, retry, fault, next]) => [
    code.replaceAll('`', ''),
    { status: Number(status), retryable: retry === 'yes', fault, next },
  ]),
);

describe('docs/errors.md', () => {
  it('has every code of the table and no other, each once, in the order of the table', () => {
    expect(Object.keys(documented)).toEqual(Object.keys(errorKinds));
    expect(rows).toHaveLength(Object.keys(errorKinds).length);
  });

  it('says of each code what the table says', () => {
    expect(documented).toEqual(errorKinds);
  });
});

describe('the error table', () => {
  it('calls retryable only what a client or server may also repeat by its status', () => {
    const retryable = Object.values(errorKinds).filter((kind) => kind.retryable);
    expect(new Set(retryable.map(({ status }) => status))).toEqual(new Set([429, 503, 504]));
  });

  it('has whole sentences', () => {
    for (const { next } of Object.values(errorKinds)) expect(next).toMatch(/^[A-Z].+\.$/);
  });

  it('is what the wire accepts as a code', () => {
    expect(errorCodeSchema.options).toEqual(Object.keys(errorKinds));
    expect(errorCodeSchema.safeParse('toString').success).toBe(false);
  });
});

describe('CodelanesError', () => {
  it('is told from other errors by its mark', () => {
    expect(CodelanesError.is(new CodelanesError('NOT_FOUND', 'gone'))).toBe(true);
    expect(CodelanesError.is(new Error('gone'))).toBe(false);
    expect(CodelanesError.is({ code: 'NOT_FOUND' })).toBe(false);
  });
});
