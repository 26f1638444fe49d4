import { CodelanesError, limits, type Edit, type EditStrategy } from '@codelanes/protocol';
import { exact } from './exact.js';
import { explainAmbiguity, explainMiss } from './explain-failure.js';
import { indentationFlexible } from './indentation-flexible.js';
import { lineTrimmed } from './line-trimmed.js';
import { MatchTooCostly } from './match-too-costly.js';
import { SourceText } from './source-text.js';
import type { MatchStrategy, Replacement, SoughtEdit } from './strategy.js';
import { whitespaceNormalized } from './whitespace-normalized.js';

export type Matching = 'exact' | 'tolerant';

/**
 * In the order in which they are tried: the first that finds anything decides. White space between words comes
 * last, as it alone cannot fit the new text to the indentation of the place.
 */
const strategies: Readonly<Record<Matching, readonly MatchStrategy[]>> = {
  exact: [exact],
  tolerant: [exact, lineTrimmed, indentationFlexible, whitespaceNormalized],
};

export interface AppliedEdit {
  readonly strategy: EditStrategy;
  readonly occurrences: number;
}

export interface AppliedEdits {
  readonly text: string;
  readonly matches: readonly AppliedEdit[];
}

/**
 * Applies edits one after the other, each to what the ones before it left; all of them or none. Without
 * `replaceAll` the old text must stand in one place only.
 *
 * @throws CodelanesError `EDIT_CONFLICT` where an edit does not match, or not in one place; the message says
 * where its text stands or might have been meant. `WRITE_LIMIT_EXCEEDED` where the file would become too large.
 */
export function applyEdits(text: string, edits: readonly Edit[], matching: Matching): AppliedEdits {
  const matches: AppliedEdit[] = [];
  let source = new SourceText(text);
  for (const [index, { oldText, newText, replaceAll = false }] of edits.entries()) {
    const which = edits.length === 1 ? '' : `Edit ${index + 1} of ${edits.length}: `;
    try {
      const applied = applyEdit(source, { oldText, newText, replaceAll }, matching);
      matches.push(applied.match);
      source = new SourceText(applied.text);
    } catch (error) {
      throw CodelanesError.is(error) ? new CodelanesError(error.code, which + error.message) : error;
    }
  }
  return { text: source.text, matches };
}

function applyEdit(
  source: SourceText,
  edit: SoughtEdit,
  matching: Matching,
): { readonly text: string; readonly match: AppliedEdit } {
  for (const strategy of strategies[matching]) {
    const found = find(strategy, source, edit);
    if (found === undefined) continue;
    return { text: found.text, match: { strategy: strategy.name, occurrences: found.occurrences } };
  }
  throw new CodelanesError('EDIT_CONFLICT', explainMiss(source, edit, strategies.tolerant));
}

function find(
  strategy: MatchStrategy,
  source: SourceText,
  edit: SoughtEdit,
): { readonly text: string; readonly occurrences: number } | undefined {
  try {
    const replacements = strategy.find(source, edit);
    return edit.replaceAll ? replaceEvery(source, replacements) : replaceOnly(source, replacements, strategy);
  } catch (error) {
    if (!(error instanceof MatchTooCostly)) throw error;
    throw new CodelanesError(
      'EDIT_CONFLICT',
      `The file repeats itself too much to look for this text by ${strategy.name} matching: copy the text exactly as the file has it.`,
    );
  }
}

function replaceEvery(
  source: SourceText,
  replacements: Iterable<Replacement>,
): { readonly text: string; readonly occurrences: number } | undefined {
  const pieces: string[] = [];
  let occurrences = 0;
  let cursor = 0;
  let length = 0;
  for (const { start, end, text } of replacements) {
    const before = source.text.slice(cursor, start);
    pieces.push(before, text);
    cursor = end;
    occurrences += 1;
    length += before.length + text.length;
    // Every character has at least one byte, so this bounds the memory that replacements may take.
    if (length > limits.writeFileBytes) throw tooLarge();
  }
  if (occurrences === 0) return undefined;
  pieces.push(source.text.slice(cursor));
  return { text: pieces.join(''), occurrences };
}

function replaceOnly(
  source: SourceText,
  replacements: Iterable<Replacement>,
  strategy: MatchStrategy,
): { readonly text: string; readonly occurrences: number } | undefined {
  const shown: Replacement[] = [];
  let count = 0;
  for (const replacement of replacements) {
    count += 1;
    if (shown.length < 5) shown.push(replacement);
  }
  const [only] = shown;
  if (only === undefined) return undefined;
  if (count > 1)
    throw new CodelanesError('EDIT_CONFLICT', explainAmbiguity(source, shown, count, strategy.name));
  const text = source.text.slice(0, only.start) + only.text + source.text.slice(only.end);
  return { text, occurrences: 1 };
}

/** The refusal of an edit whose result has more bytes than a file may have. */
export function tooLarge(): CodelanesError {
  return new CodelanesError(
    'WRITE_LIMIT_EXCEEDED',
    `The edited file would have more than ${limits.writeFileBytes} bytes: make it smaller, or write it with a command.`,
  );
}
