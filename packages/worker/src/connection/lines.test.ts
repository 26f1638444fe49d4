import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { linesOf } from './lines.js';

async function* inPieces(pieces: readonly string[]): AsyncGenerator<string> {
  for (const piece of pieces) yield await Promise.resolve(piece);
}

async function linesIn(pieces: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(inPieces(pieces))) lines.push(line);
  return lines;
}

/** How many characters are looked through for a line feed while that is done. */
async function charactersSearched(work: () => Promise<unknown>): Promise<number> {
  const searches = [
    vi.spyOn(String.prototype, 'split'),
    vi.spyOn(String.prototype, 'indexOf'),
    vi.spyOn(String.prototype, 'lastIndexOf'),
    vi.spyOn(String.prototype, 'includes'),
    vi.spyOn(String.prototype, 'search'),
    vi.spyOn(String.prototype, 'match'),
  ];
  await work();
  const searched = searches.flatMap(({ mock }) => mock.contexts.map((text) => String(text).length));
  return searched.reduce((sum, length) => sum + length, 0);
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the lines of what comes in pieces', () => {
  it('are those of the whole text, wherever it is cut', async () => {
    const text = fc.array(fc.stringMatching(/^[ab\n]{0,5}$/));
    await fc.assert(
      fc.asyncProperty(text, async (pieces) => {
        const lines = pieces.join('').split('\n');
        if (lines.at(-1) === '') lines.pop();
        expect(await linesIn(pieces)).toEqual(lines);
      }),
    );
  });

  it('come as soon as they are whole', async () => {
    const lines = linesOf(inPieces(['one\ntw', 'o\nthree']));
    expect((await lines.next()).value).toBe('one');
    expect((await lines.next()).value).toBe('two');
    expect((await lines.next()).value).toBe('three');
  });

  it('cost a look at each character, however long a line is', async () => {
    const pieces = [...Array.from({ length: 200 }, () => 'x'.repeat(1_000)), '\n'];
    const total = pieces.join('').length;
    expect(await charactersSearched(() => linesIn(pieces))).toBeLessThanOrEqual(2 * total);
  });
});
