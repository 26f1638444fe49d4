import { compareUtf8 } from '@codelanes/protocol';

/**
 * Keeps the first paths in byte order of any number that are added in any order, in memory for about twice as
 * many as are kept.
 */
export class SmallestPaths {
  readonly #limit: number;
  readonly #after: string | undefined;
  #kept: string[] = [];
  #last: string | undefined;
  #overflowed = false;

  /** @param after Only paths behind this one are kept. */
  constructor(limit: number, after?: string) {
    this.#limit = limit;
    this.#after = after;
  }

  add(path: string): void {
    if (this.#after !== undefined && compareUtf8(path, this.#after) <= 0) return;
    if (this.#last !== undefined && compareUtf8(path, this.#last) > 0) {
      this.#overflowed = true;
      return;
    }
    this.#kept.push(path);
    if (this.#kept.length > 2 * this.#limit) this.#cut();
  }

  /** The paths that were kept, in byte order, and whether others follow them. */
  take(): { readonly paths: readonly string[]; readonly truncated: boolean } {
    this.#cut();
    return { paths: this.#kept, truncated: this.#overflowed };
  }

  #cut(): void {
    this.#kept.sort(compareUtf8);
    if (this.#kept.length <= this.#limit) return;
    this.#kept.length = this.#limit;
    this.#overflowed = true;
    this.#last = this.#kept.at(-1);
  }
}
