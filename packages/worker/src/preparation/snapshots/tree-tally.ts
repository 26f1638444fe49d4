import { createHash } from 'node:crypto';
import { SnapshotRefusal } from './snapshot-refusal.js';

export interface TreeBounds {
  /** Of all files together, as `ls -l` shows them. */
  readonly maxBytes: number;
  /** Files, folders and links together. */
  readonly maxFiles: number;
}

/** One name of a tree; `path` is relative to the root. */
export type TreeEntry =
  | { readonly kind: 'file'; readonly path: string; readonly mode: number; readonly size: number }
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

/** What a snapshot holds: equal digests mean equal names, kinds, modes, sizes and links. */
export interface TreeSummary {
  readonly entries: number;
  readonly bytes: number;
  readonly digest: string;
}

/** Counts the entries of trees as they are copied, in a fixed order, and ends a copy that has too many. */
export class TreeTally {
  readonly #bounds: TreeBounds;
  readonly #hash = createHash('sha256');
  #entries = 0;
  #bytes = 0;

  constructor(bounds: TreeBounds) {
    this.#bounds = bounds;
  }

  get entries(): number {
    return this.#entries;
  }

  /** Entries that may still come. */
  get room(): number {
    return this.#bounds.maxFiles - this.#entries;
  }

  /** @throws {SnapshotRefusal} for the first entry that is too much. */
  add(entry: TreeEntry): void {
    this.#entries += 1;
    if (entry.kind === 'file') this.#bytes += entry.size;
    if (this.#entries > this.#bounds.maxFiles) throw this.tooMany();
    if (this.#bytes > this.#bounds.maxBytes) {
      throw new SnapshotRefusal(
        `There are more than ${this.#bounds.maxBytes} bytes (maxBytes) in the folders that it is to hold.`,
      );
    }
    this.#hash.update(`${JSON.stringify(entry)}\n`);
  }

  tooMany(): SnapshotRefusal {
    return new SnapshotRefusal(
      `There are more than ${this.#bounds.maxFiles} files and folders (maxFiles) in the folders that it is to hold.`,
    );
  }

  /** Ends the count. */
  summary(): TreeSummary {
    return { entries: this.#entries, bytes: this.#bytes, digest: this.#hash.digest('hex') };
  }
}
