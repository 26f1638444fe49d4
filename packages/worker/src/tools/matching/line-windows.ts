import { occurrences } from './occurrences.js';
import type { SourceText } from './source-text.js';
import type { SoughtEdit } from './strategy.js';

/** The old text of an edit as whole lines. */
export interface SoughtLines {
  readonly lines: readonly string[];
  /** Whether the last line is meant with its line end. */
  readonly throughLineEnd: boolean;
}

/** A run of whole lines of the source. */
export interface LineWindow {
  /** Index of its first line. */
  readonly first: number;
  readonly start: number;
  readonly end: number;
}

/** A line end at the end of the old text means that of its last line, not an empty line behind it. */
export function soughtLines({ oldText }: SoughtEdit): SoughtLines {
  const lines = oldText.split(/\r?\n/u);
  const throughLineEnd = lines.length > 1 && lines.at(-1) === '';
  return { lines: throughLineEnd ? lines.slice(0, -1) : lines, throughLineEnd };
}

/**
 * The runs of lines that equal the sought ones once both are normalised. Lines of white space alone are no
 * needle: they would match anywhere.
 */
export function* lineWindows(
  source: SourceText,
  sought: SoughtLines,
  normalize: (line: string) => string,
  { overlapping }: { readonly overlapping: boolean },
): Generator<LineWindow, void, undefined> {
  const needle = sought.lines.map(normalize);
  if (needle.every((line) => line.trim() === '')) return;
  const lines = source.lines.map(({ text }) => normalize(text));
  for (const first of occurrences(lines, needle, { overlapping })) {
    const firstLine = source.lines[first];
    const lastLine = source.lines[first + needle.length - 1];
    const end = sought.throughLineEnd ? lastLine?.next : lastLine?.end;
    if (firstLine !== undefined && end !== undefined) yield { first, start: firstLine.start, end };
  }
}
