/** Reads the flat reply of a script from front to back. */
export class ReplyReader {
  readonly #values: readonly string[];
  #at = 0;

  constructor(values: readonly string[]) {
    this.#values = values;
  }

  isAtEnd(): boolean {
    return this.#at >= this.#values.length;
  }

  /** @throws Error where the reply is shorter than its reader expects. */
  text(): string {
    const value = this.#values[this.#at];
    if (value === undefined) throw new Error(`a script returned only ${this.#values.length} values`);
    this.#at += 1;
    return value;
  }

  /** @throws Error where the next value is no number. */
  number(): number {
    const value = this.text();
    const number = Number(value);
    if (value === '' || Number.isNaN(number)) throw new Error(`a script returned "${value}" for a number`);
    return number;
  }

  /** That many values, or all that are left. */
  texts(count = this.#values.length - this.#at): readonly string[] {
    const values = this.#values.slice(this.#at, this.#at + count);
    this.#at += values.length;
    return values;
  }
}
