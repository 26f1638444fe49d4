import { occurrences } from './occurrences.js';
import type { MatchStrategy } from './strategy.js';

/** The old text character by character, line ends and all. */
export const exact: MatchStrategy = {
  name: 'exact',
  *find({ text }, { oldText, newText, replaceAll }) {
    for (const start of occurrences(text, oldText, { overlapping: !replaceAll })) {
      yield { start, end: start + oldText.length, text: newText };
    }
  },
};
