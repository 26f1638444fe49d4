import { CodelanesError } from '@codelanes/protocol';

const newline = 0x0a;

export interface LineRange {
  readonly startLine: number;
  readonly maxLines: number;
  /** Bound on the lines together, with one byte between two. */
  readonly maxBytes: number;
}

/**
 * Cuts a range of lines out of bytes that arrive in pieces, so that the size of the file does not matter. Lines
 * end at LF; a CR before it stays part of its line. A file without any byte has one empty line, and a line
 * end at the end of the file begins no further line.
 */
export class LineReader {
  readonly lines: Buffer[] = [];
  /** Whether lines of the file follow those that were kept. Known when `isDone` or after `end`. */
  truncated = false;
  readonly #path: string;
  readonly #range: LineRange;
  #number = 1;
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #keptBytes = 0;

  constructor(path: string, range: LineRange) {
    this.#path = path;
    this.#range = range;
  }

  /** Whether no further bytes are needed. */
  get isDone(): boolean {
    return this.truncated;
  }

  /** The number of the line that the next byte belongs to. */
  get lineNumber(): number {
    return this.#number;
  }

  /** @throws CodelanesError `READ_LIMIT_EXCEEDED` where the first line alone has more than `maxBytes`. */
  push(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length && !this.truncated) {
      if (this.lines.length === this.#range.maxLines) {
        this.truncated = true;
        return;
      }
      const found = chunk.indexOf(newline, offset);
      const end = found === -1 ? chunk.length : found;
      if (this.#number >= this.#range.startLine) this.#keep(chunk.subarray(offset, end));
      if (found !== -1) this.#endLine();
      offset = end + 1;
    }
  }

  end(): void {
    if (this.truncated || this.#number < this.#range.startLine) return;
    if (this.#pieceBytes > 0 || this.#number === 1) this.#endLine();
  }

  #keep(piece: Buffer): void {
    const separators = this.lines.length;
    if (this.#keptBytes + separators + this.#pieceBytes + piece.length > this.#range.maxBytes) {
      if (this.lines.length === 0) throw this.#tooLong();
      this.truncated = true;
      return;
    }
    this.#pieces.push(Buffer.from(piece));
    this.#pieceBytes += piece.length;
  }

  #endLine(): void {
    if (this.truncated) return;
    if (this.#number >= this.#range.startLine) {
      this.lines.push(Buffer.concat(this.#pieces));
      this.#keptBytes += this.#pieceBytes;
      this.#pieces = [];
      this.#pieceBytes = 0;
    }
    this.#number += 1;
  }

  #tooLong(): CodelanesError {
    return new CodelanesError(
      'READ_LIMIT_EXCEEDED',
      `Line ${this.#number} of "${this.#path}" has more than ${this.#range.maxBytes} bytes: start at a later line, or look at it with search_text or a command.`,
    );
  }
}
