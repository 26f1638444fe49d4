/** One line of a text, by offsets. */
export interface Line {
  readonly start: number;
  /** Behind its last character, the line end (LF or CRLF) left out. */
  readonly end: number;
  /** Behind its line end; `undefined` for a last line that has none. */
  readonly next: number | undefined;
  readonly text: string;
}

export type LineEnd = '\n' | '\r\n';

/** A text under edit, with its lines found when first asked for. */
export class SourceText {
  readonly text: string;
  #lines: readonly Line[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** A text that ends with a line end has an empty last line, as editors show it. */
  get lines(): readonly Line[] {
    this.#lines ??= findLines(this.text);
    return this.#lines;
  }

  /** 1-based number of the line that holds an offset. */
  lineNumberAt(offset: number): number {
    let low = 0;
    let high = this.lines.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.lines[middle]?.start ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  }

  /** How the line that holds an offset ends; for a last line without an end, as the line before it. */
  lineEndAt(offset: number): LineEnd {
    const index = this.lineNumberAt(offset) - 1;
    const line = this.lines[index];
    const ended = line?.next === undefined ? this.lines[index - 1] : line;
    return ended?.next !== undefined && ended.next - ended.end === 2 ? '\r\n' : '\n';
  }
}

/** Gives every line end of a text the one form. */
export function withLineEnd(text: string, lineEnd: LineEnd): string {
  return text.replace(/\r?\n/gu, lineEnd);
}

function findLines(text: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (;;) {
    const newline = text.indexOf('\n', start);
    if (newline === -1) {
      lines.push({ start, end: text.length, next: undefined, text: text.slice(start) });
      return lines;
    }
    const end = newline > start && text[newline - 1] === '\r' ? newline - 1 : newline;
    lines.push({ start, end, next: newline + 1, text: text.slice(start, end) });
    start = newline + 1;
  }
}
