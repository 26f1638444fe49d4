import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayLeaveRoot } from './link-rule.js';

const path = 'packages/web/node_modules/.bin/vite';

describe('a symbolic link of a snapshot', () => {
  it.each([
    ['../vite/bin/vite.js', false],
    ['./x', false],
    ['../../../api', false],
    ['../../../..', false],
    ['../../../../..', true],
    ['../../../../../etc/passwd', true],
    ['/etc/passwd', true],
    ['', true],
    // What `a` is decides where this leads.
    ['a/../../x', true],
  ])('%j may leave the root: %s', (target, leaves) => {
    expect(mayLeaveRoot(path, target)).toBe(leaves);
  });

  it('[D3] that is taken ends beneath the root, wherever it stands', () => {
    const segment = fc.constantFrom('..', '.', 'a', 'b', '');
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 5 }),
        fc.array(segment, { maxLength: 8 }),
        (place, target) => {
          fc.pre(!mayLeaveRoot(place.join('/'), target.join('/')));
          const end = posix.join('/root/of/it', ...place.slice(0, -1), ...target);
          expect(`${end}/`).toMatch(/^\/root\/of\/it\//u);
        },
      ),
    );
  });
});
