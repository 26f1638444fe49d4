import type { EditStrategy } from '@codelanes/protocol';
import { MatchTooCostly } from './match-too-costly.js';
import type { Line, SourceText } from './source-text.js';
import type { MatchStrategy, Replacement, SoughtEdit } from './strategy.js';

const maxLineShown = 160;

/** Says where a text stands that should have stood in one place only. */
export function explainAmbiguity(
  source: SourceText,
  shown: readonly Replacement[],
  count: number,
  strategy: EditStrategy,
): string {
  const lines = shown.map(({ start }) => String(source.lineNumberAt(start)));
  const more = count > shown.length ? ` and ${count - shown.length} more` : '';
  const how = strategy === 'exact' ? '' : ` (${strategy})`;
  return `The old text stands in ${count} places${how}, at lines ${lines.join(', ')}${more}: add lines around it so that one is meant, or set replaceAll.`;
}

/**
 * Says of a text that was not found where it stands with other white space, or which line is nearest to its
 * first. `strategies` are those that overlook white space.
 */
export function explainMiss(
  source: SourceText,
  edit: SoughtEdit,
  strategies: readonly MatchStrategy[],
): string {
  const near = strategies
    .map((strategy) => firstMatch(strategy, source, edit))
    .find((found) => found !== undefined);
  if (near !== undefined) {
    const crlf = source.lineEndAt(near.start) === '\r\n' && !edit.oldText.includes('\r\n');
    const why = crlf ? 'white space or CRLF line ends' : 'white space';
    return `The old text was not found. At line ${source.lineNumberAt(near.start)} it stands with other ${why}: copy it exactly, or set matching to "tolerant".`;
  }
  const wanted = edit.oldText
    .split('\n')
    .find((line) => line.trim() !== '')
    ?.trim();
  const nearest = wanted === undefined ? undefined : nearestLine(source.lines, wanted);
  if (nearest === undefined) {
    return 'The old text was not found, nor a line like it: read the file again.';
  }
  const number = source.lineNumberAt(nearest.start);
  return nearest.text.trim() === wanted
    ? `The old text was not found. Its first line stands at line ${number}, but what follows differs: read the file from there.`
    : `The old text was not found. The nearest to its first line is line ${number}: ${JSON.stringify(shorten(nearest.text.trim()))}. Read the file from there.`;
}

function firstMatch(
  strategy: MatchStrategy,
  source: SourceText,
  { oldText }: SoughtEdit,
): Replacement | undefined {
  try {
    // The new text does not matter here, and the old one always fits its own surroundings.
    for (const found of strategy.find(source, { oldText, newText: oldText, replaceAll: false })) return found;
    return undefined;
  } catch (error) {
    if (error instanceof MatchTooCostly) return undefined;
    throw error;
  }
}

/** The line that is the wanted one but for indentation, else the one that shares most words with it. */
function nearestLine(lines: readonly Line[], wanted: string): Line | undefined {
  const words = new Set(wordsOf(wanted));
  let best: { readonly line: Line; readonly shared: number } | undefined;
  for (const line of lines) {
    if (line.text.trim() === wanted) return line;
    const shared = new Set(wordsOf(line.text).filter((word) => words.has(word))).size;
    // One word in common says nothing, unless the line has no other.
    if (shared >= Math.min(2, words.size) && shared > (best?.shared ?? 0)) best = { line, shared };
  }
  return best?.line;
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
}

function shorten(text: string): string {
  const characters = Array.from(text.slice(0, 2 * maxLineShown));
  return characters.length > maxLineShown ? `${characters.slice(0, maxLineShown).join('')}…` : text;
}
