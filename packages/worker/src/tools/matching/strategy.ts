import type { EditStrategy } from '@codelanes/protocol';
import type { SourceText } from './source-text.js';

/** A part of the source and what stands there afterwards. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface SoughtEdit {
  readonly oldText: string;
  readonly newText: string;
  /** Whether every occurrence is replaced; then none may overlap an earlier one. */
  readonly replaceAll: boolean;
}

/** One way of finding an edit's old text in a file, with the new text already fitted to each place. */
export interface MatchStrategy {
  readonly name: EditStrategy;
  find(source: SourceText, edit: SoughtEdit): Iterable<Replacement>;
}
