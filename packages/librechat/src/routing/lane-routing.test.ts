import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toLaneRequest, type AdvertisedLanes, type RoutableRequest } from '../index.js';

interface Vector extends AdvertisedLanes {
  readonly given: RoutableRequest;
  readonly expect: unknown;
}

const file = new URL('../../../../e2e/fixtures/vectors/lane-routing.jsonl', import.meta.url);
const vectors = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Vector);

describe('toLaneRequest answers every line of lane-routing.jsonl', () => {
  it('has lines to answer', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(40);
  });

  it.each(vectors.map((vector, index) => ({ line: index + 1, ...vector })))(
    '[L20] line $line: $given.operation $given.path$given.cwd',
    ({ given, repositories, worktrees, expect: expected }) => {
      const sent = structuredClone(given);
      expect(toLaneRequest(given, { repositories, worktrees })).toStrictEqual(expected);
      expect(given).toStrictEqual(sent);
    },
  );
});
