import { lineWindows, soughtLines } from './line-windows.js';
import { withLineEnd } from './source-text.js';
import type { MatchStrategy } from './strategy.js';

/** Whole lines, white space at the end of lines and the kind of line end aside. */
export const lineTrimmed: MatchStrategy = {
  name: 'line-trimmed',
  *find(source, edit) {
    const windows = lineWindows(source, soughtLines(edit), (line) => line.trimEnd(), {
      overlapping: !edit.replaceAll,
    });
    for (const { start, end } of windows) {
      yield { start, end, text: withLineEnd(edit.newText, source.lineEndAt(start)) };
    }
  },
};
