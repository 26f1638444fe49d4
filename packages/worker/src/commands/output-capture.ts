/** Bytes that continue a character of UTF-8 look like `10xxxxxx`. */
function continues(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** The first bytes, at most `limit`, without half a character at the end. */
export function headOf(bytes: Buffer, limit: number): Buffer {
  if (bytes.length <= limit) return bytes;
  let end = Math.max(0, limit);
  while (end > 0 && continues(bytes[end])) end -= 1;
  return bytes.subarray(0, end);
}

/** The last bytes, at most `limit`, without half a character at the start. */
export function tailOf(bytes: Buffer, limit: number): Buffer {
  if (bytes.length <= limit) return bytes;
  let start = bytes.length - Math.max(0, limit);
  while (start < bytes.length && continues(bytes[start])) start += 1;
  return bytes.subarray(start);
}

/**
 * Keeps the beginning and the end of a stream in bounded memory: the first `limit` bytes and the last ones,
 * counted in the UTF-8 of what a reader will see. A character that arrives in two chunks stays whole; bytes
 * that are no UTF-8 become U+FFFD.
 */
export class OutputCapture {
  readonly #limit: number;
  // A byte order mark is output like any other.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes of UTF-8 that the stream has given so far. */
  get total(): number {
    return this.#total;
  }

  write(chunk: Uint8Array): void {
    this.#keep(Buffer.from(this.#decoder.decode(chunk, { stream: true })));
  }

  /** Says what an unfinished character at the end was worth. Nothing is written afterwards. */
  end(): void {
    this.#keep(Buffer.from(this.#decoder.decode()));
  }

  /**
   * What fits into so many bytes: everything, or head, a line that says how many bytes are left out, and
   * tail. `bytes` may not exceed the capture's limit.
   */
  render(bytes: number): string {
    if (this.#total <= bytes) return Buffer.concat([...this.#head, ...this.#tail]).toString();
    // The count that is shown has at most as many digits as the total, so this is room enough.
    const room = bytes - omission(this.#total).length;
    if (room < 0) return tailOf(Buffer.concat([...this.#head, ...this.#tail]), bytes).toString();
    const head = headOf(Buffer.concat(this.#head), Math.floor(room / 2));
    const tail = tailOf(Buffer.concat([...this.#head, ...this.#tail]), room - head.length);
    return `${head.toString()}${omission(this.#total - head.length - tail.length)}${tail.toString()}`;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#total += bytes.length;
    const intoHead = bytes.subarray(0, this.#limit - this.#headBytes);
    if (intoHead.length > 0) {
      this.#head = appended(this.#head, intoHead);
      this.#headBytes += intoHead.length;
    }
    const rest = bytes.subarray(intoHead.length);
    if (rest.length === 0) return;
    this.#tail = appended(this.#tail, rest);
    this.#tailBytes += rest.length;
    // Joined only when it has grown to twice its size, so that each byte is copied a bounded number of times.
    if (this.#tailBytes > 2 * this.#limit) {
      this.#tail = [Buffer.from(Buffer.concat(this.#tail).subarray(-this.#limit))];
      this.#tailBytes = this.#limit;
    }
  }
}

/** Many tiny writes would cost more in bookkeeping than in bytes, so pieces are joined now and then. */
function appended(pieces: Buffer[], piece: Buffer): Buffer[] {
  if (pieces.length >= 1024) return [Buffer.concat([...pieces, piece])];
  pieces.push(piece);
  return pieces;
}

/** The line that stands where bytes were left out. ASCII, so its length is its size. */
function omission(bytes: number): string {
  return `\n[... ${bytes} bytes omitted ...]\n`;
}
