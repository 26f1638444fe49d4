import { occurrences } from './occurrences.js';
import { withLineEnd } from './source-text.js';
import type { MatchStrategy, SoughtEdit } from './strategy.js';

/**
 * The same words with any white space between them, line ends included. A place begins and ends with a word:
 * white space around the old text must stand around the new text too, and stays in the file as it is.
 */
export const whitespaceNormalized: MatchStrategy = {
  name: 'whitespace-normalized',
  *find(source, edit) {
    const inner = innerText(edit);
    const needle = edit.oldText.trim().split(/\s+/u);
    // One word alone is what the exact strategy has looked for.
    if (inner === undefined || needle.length < 2) return;
    const words = [...source.text.matchAll(/\S+/gu)];
    const texts = words.map(([word]) => word);
    for (const first of occurrences(texts, needle, { overlapping: !edit.replaceAll })) {
      const start = words[first]?.index ?? 0;
      const last = words[first + needle.length - 1];
      const end = (last?.index ?? 0) + (last?.[0].length ?? 0);
      yield { start, end, text: withLineEnd(inner, source.lineEndAt(start)) };
    }
  },
};

/** The new text without the white space that the old text has around it, or `undefined` where they differ. */
function innerText(edit: SoughtEdit): string | undefined {
  const oldText = withLineEnd(edit.oldText, '\n');
  const newText = withLineEnd(edit.newText, '\n');
  const before = oldText.slice(0, oldText.length - oldText.trimStart().length);
  const after = oldText.slice(oldText.trimEnd().length);
  const fits =
    newText.startsWith(before) && newText.endsWith(after) && newText.length >= before.length + after.length;
  return fits ? newText.slice(before.length, newText.length - after.length) : undefined;
}
