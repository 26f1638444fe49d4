import { describe, expect, it } from 'vitest';
import { StaticTokens } from './static-tokens.js';
import { Tokens } from './tokens.js';

const tokens = new Tokens(
  new StaticTokens({
    callers: ['caller-one-0123456789', 'caller-two-0123456789'],
    admin: 'admin-0123456789abcdef',
    worker: 'worker-0123456789abcdef',
  }),
);

function principalOf(authorization: string): string {
  const identity = tokens.admit(authorization, ['caller']);
  if (identity instanceof Promise) throw new Error('A token of this bridge is known at once.');
  return identity.principal;
}

describe('a bearer token', () => {
  it('is let in where its kind is allowed', () => {
    expect(tokens.admit('Bearer admin-0123456789abcdef', ['caller', 'admin'])).toMatchObject({
      kind: 'admin',
    });
    expect(tokens.admit('bearer worker-0123456789abcdef', ['worker'])).toMatchObject({ kind: 'worker' });
  });

  it('is FORBIDDEN where it was made for something else, and the message says for what', () => {
    const worker = () => tokens.admit('Bearer worker-0123456789abcdef', ['admin']);
    expect(worker).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
    expect(worker).toThrow('for worker');
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic caller-one-0123456789',
    'caller-one-0123456789',
    'Bearer caller-one-012345678',
    'Bearer caller-one-01234567890',
    'Bearer CALLER-ONE-0123456789',
    'Bearer caller-one-0123456789 caller-two-0123456789',
    'Bearer \u0000',
  ])('is UNAUTHENTICATED as %j', (authorization) => {
    expect(() => tokens.admit(authorization, ['caller', 'admin', 'worker'])).toThrow(
      expect.objectContaining({ code: 'UNAUTHENTICATED' }),
    );
  });
});

describe('the principal of a token', () => {
  it('is short, stable, its own, and holds nothing of the token', () => {
    const one = principalOf('Bearer caller-one-0123456789');
    const two = principalOf('Bearer caller-two-0123456789');
    expect(one).toMatch(/^[0-9a-f]{12}$/);
    expect(principalOf('Bearer caller-one-0123456789')).toBe(one);
    expect(two).not.toBe(one);
  });
});
