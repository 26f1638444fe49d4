import { compareUtf8 } from '@codelanes/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SmallestPaths } from './smallest-paths.js';

describe('SmallestPaths', () => {
  it('keeps what sorting everything and cutting would', () => {
    const path = fc.string({ minLength: 1, maxLength: 3, unit: 'grapheme' });
    fc.assert(
      fc.property(
        fc.uniqueArray(path, { maxLength: 40 }),
        fc.integer({ min: 1, max: 8 }),
        fc.option(path, { nil: undefined }),
        (paths, limit, after) => {
          const smallest = new SmallestPaths(limit, after);
          for (const each of paths) smallest.add(each);
          const behind = paths
            .filter((each) => after === undefined || compareUtf8(each, after) > 0)
            .sort(compareUtf8);
          expect(smallest.take()).toEqual({
            paths: behind.slice(0, limit),
            truncated: behind.length > limit,
          });
        },
      ),
    );
  });
});
