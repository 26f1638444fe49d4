import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { citationsIn, readCitations } from './citations.js';
import { doneIssues, readRequirements, requirementsFile } from './requirements.js';

/** Where the list comes from; it lies beside the repository only where it is developed. */
const original = fileURLToPath(new URL('../../../../shared/requirements.jsonl', import.meta.url));

describe('requirements', () => {
  it('every one of a step that is done is proved by a test that names it', () => {
    const cited = new Set(readCitations().map(({ id }) => id));
    const unproved = readRequirements()
      .filter(({ issue, id }) => doneIssues.includes(issue) && !cited.has(id))
      .map(({ id, says }) => `${id}: ${says}`);
    expect(unproved).toEqual([]);
  });

  it('no id stands twice, and no test names one of their families that does not exist', () => {
    const ids = readRequirements().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const strangers = readCitations().filter(({ id }) => /^[LM]\d/.test(id) && !ids.includes(id));
    expect(strangers).toEqual([]);
  });

  if (existsSync(original)) {
    it('the copy says what the original says', () => {
      expect(readFileSync(requirementsFile, 'utf8')).toBe(readFileSync(original, 'utf8'));
    });
  }
});

describe('citations', () => {
  it('are found in titles of tests, with each and over lines, several in one pair of brackets', () => {
    const source = [
      "it('[X1] holds', () => {});",
      'it.each(rows)(\n  "[X2, X3] holds for %s [S5: not an id]", check);',
      'describe(`[X4] a group`, () => {});',
      '// [X5] in a comment proves nothing',
      "const text = '[X6]';",
    ].join('\n');
    expect(citationsIn(source).map(({ id }) => id)).toEqual(['X1', 'X2', 'X3', 'X4']);
  });
});
