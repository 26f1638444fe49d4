import { MatchTooCostly } from './match-too-costly.js';
import { lineWindows, soughtLines } from './line-windows.js';
import { withLineEnd, type SourceText } from './source-text.js';
import type { MatchStrategy } from './strategy.js';

/** Lines compared in all before a file that repeats itself too much is given up. */
const maxComparisons = 500_000;

/**
 * Whole lines whose indentation as a block differs: deeper, shallower, or of another kind. Indentation within
 * the block must agree. The new text moves to the indentation of the place.
 */
export const indentationFlexible: MatchStrategy = {
  name: 'indentation-flexible',
  *find(source, edit) {
    const sought = soughtLines(edit);
    const indent = commonIndent(sought.lines);
    const block = sought.lines.map((line) => withoutIndent(line, indent));
    let comparisons = 0;
    let free = 0;
    const windows = lineWindows(source, sought, (line) => line.trim(), { overlapping: true });
    for (const { first, start, end } of windows) {
      if (edit.replaceAll && start < free) continue;
      comparisons += block.length;
      if (comparisons > Math.max(maxComparisons, block.length)) throw new MatchTooCostly();
      const lines = linesOf(source, first, block.length);
      const found = commonIndent(lines);
      if (!lines.every((line, index) => withoutIndent(line, found) === block[index])) continue;
      free = end;
      const moved = reindent(edit.newText, indent, found);
      yield { start, end, text: withLineEnd(moved, source.lineEndAt(start)) };
    }
  },
};

function linesOf(source: SourceText, first: number, count: number): string[] {
  return source.lines.slice(first, first + count).map(({ text }) => text);
}

/** The longest indentation that every line but blank ones has. */
function commonIndent(lines: readonly string[]): string {
  let common: string | undefined;
  for (const line of lines) {
    if (line.trim() === '') continue;
    const indent = /^[ \t]*/u.exec(line)?.[0] ?? '';
    common = common === undefined ? indent : sharedBeginning(common, indent);
  }
  return common ?? '';
}

function sharedBeginning(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}

function withoutIndent(line: string, indent: string): string {
  return line.trim() === '' ? '' : line.slice(indent.length).trimEnd();
}

/** Lines that stand further out than the old text did keep what they have. */
function reindent(text: string, from: string, to: string): string {
  return text
    .split('\n')
    .map((line) => (line.trim() !== '' && line.startsWith(from) ? to + line.slice(from.length) : line))
    .join('\n');
}
