import { closeSync, readlinkSync } from 'node:fs';
import { Directory, linkRefusal, segmentsOf, type Entry } from './directory.js';
import { FileRefusal } from './refusal.js';

/** Links followed on the way to one file. */
const maxLinks = 8;

/** Where a relative path leads, held open. The caller calls `close`. */
export interface Resolved {
  /** The deepest directory of the path that exists. */
  readonly parent: Directory;
  /** Directories that would have to be made beneath `parent` first; empty where the parent is there. */
  readonly missing: readonly string[];
  /** The last segment, after links. */
  readonly name: string;
  /** What bears that name, or `undefined` where nothing does. Never a link. */
  readonly entry: Entry | undefined;
  /** The path after links, relative to the confining directory. */
  readonly path: string;
  close(): void;
}

/**
 * Finds the file of a relative path beneath a confining directory. Links are resolved here, by their text and
 * one segment at a time, so that they may lead anywhere inside the directory and nowhere else: a climb above
 * it, an absolute text that does not begin with its own path, or a ninth link are refused.
 */
export function resolve(top: Directory, relative: string): Resolved {
  const walk = new Walk(top, relative);
  try {
    return walk.run();
  } catch (error) {
    walk.close();
    throw error;
  }
}

class Walk {
  private readonly top: Directory;
  private readonly relative: string;
  private readonly opened: Directory[];
  private readonly names: string[] = [];
  private readonly pending: string[];
  private links = 0;

  constructor(top: Directory, relative: string) {
    this.top = top;
    this.relative = relative;
    this.pending = segmentsOf(relative);
    this.opened = [top.again()];
  }

  run(): Resolved {
    for (;;) {
      const segment = this.pending.shift();
      if (segment === undefined) return this.endAtDirectory();
      if (segment === '..') this.climb();
      else {
        const end = this.step(segment);
        if (end !== undefined) return end;
      }
    }
  }

  close(): void {
    for (const directory of this.opened.splice(0)) directory.close();
  }

  private get current(): Directory {
    const last = this.opened.at(-1);
    if (last === undefined) throw new Error('This walk has been closed.');
    return last;
  }

  private step(segment: string): Resolved | undefined {
    const entry = this.current.find(segment);
    if (entry === undefined) return this.endAtNothing(segment);
    if (entry.kind === 'symlink') {
      closeSync(entry.fd);
      this.follow(segment);
      return undefined;
    }
    if (this.pending.length === 0) return this.end(segment, entry);
    if (entry.kind !== 'directory') {
      closeSync(entry.fd);
      throw new FileRefusal(
        'not_a_directory',
        this.relative,
        `"${this.relative}" cannot be reached: "${[...this.names, segment].join('/')}" is not a directory.`,
      );
    }
    this.opened.push(Directory.of(entry));
    this.names.push(segment);
    return undefined;
  }

  private follow(segment: string): void {
    this.links += 1;
    if (this.links > maxLinks) throw linkRefusal(this.relative);
    let text: string;
    try {
      text = readlinkSync(this.current.place(segment));
    } catch {
      // It was exchanged since the look: look again, which counts as a link so that this ends.
      this.pending.unshift(segment);
      return;
    }
    if (text.startsWith('/')) text = this.restart(text);
    this.pending.unshift(...text.split('/').filter((part) => part !== '' && part !== '.'));
  }

  private restart(text: string): string {
    const top = `${this.top.path()}/`;
    if (!`${text}/`.startsWith(top)) throw this.outside();
    for (const directory of this.opened.splice(1)) directory.close();
    this.names.length = 0;
    return text.slice(top.length);
  }

  private climb(): void {
    if (this.opened.length === 1) throw this.outside();
    this.opened.pop()?.close();
    this.names.pop();
  }

  private outside(): FileRefusal {
    return new FileRefusal(
      'outside',
      this.relative,
      `"${this.relative}" leads out of its lane through a symbolic link: name a path inside the lane.`,
    );
  }

  private endAtNothing(segment: string): Resolved {
    const rest = [segment, ...this.pending];
    if (rest.includes('..')) {
      throw new FileRefusal('not_found', this.relative, `"${this.relative}" does not exist.`);
    }
    return this.end(rest.at(-1) ?? segment, undefined, rest.slice(0, -1));
  }

  /** A link whose text ends in `..` or `.` leads to a directory that the walk came through. */
  private endAtDirectory(): Resolved {
    const name = this.names.pop();
    if (name === undefined) throw linkRefusal(this.relative);
    this.opened.pop()?.close();
    return this.end(name, this.current.entry(name));
  }

  private end(name: string, entry: Entry | undefined, missing: readonly string[] = []): Resolved {
    return {
      parent: this.current,
      missing,
      name,
      entry,
      path: [...this.names, ...missing, name].join('/'),
      close: () => {
        if (entry !== undefined) closeSync(entry.fd);
        this.close();
      },
    };
  }
}
