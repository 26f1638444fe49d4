import { closeSync } from 'node:fs';
import { isHandedBack, limits, scriptFilesSchema, type ScriptFile } from '@codelanes/protocol';
import { Directory } from '../files/directory.js';
import { readFile } from '../files/read.js';
import { FileRefusal } from '../files/refusal.js';

/** More of a data folder is not looked through. */
const maxEntries = 2_000;
const maxDepth = 32;
/** Files that are named where they are not handed back; of more only the number is told. */
const maxNamed = 5;

export interface HandedBack {
  readonly files: readonly ScriptFile[];
  /** What there is to say of others, each a sentence. */
  readonly notices: readonly string[];
}

interface FoundFile {
  readonly name: string;
  readonly size: bigint;
  /** Tells one state of a file from another. */
  readonly version: string;
}

/** The files that a script made or changed in its data folder. Follows no link. */
export class ScriptOutputs {
  readonly #path: string;
  readonly #before: ReadonlyMap<string, string>;

  private constructor(path: string, before: ReadonlyMap<string, string>) {
    this.#path = path;
    this.#before = before;
  }

  /** @param path the folder as it is before the script runs. */
  static from(path: string): ScriptOutputs {
    const { found } = look(path);
    return new ScriptOutputs(path, new Map(found.map(({ name, version }) => [name, version])));
  }

  /** Reads them, when nothing of the script runs any more. */
  async read(): Promise<HandedBack> {
    const { found, isComplete } = look(this.#path);
    const changed = found
      .filter(({ name, version }) => isHandedBack(name) && this.#before.get(name) !== version)
      .sort((one, other) => (one.name < other.name ? -1 : 1));
    const notices = isComplete
      ? []
      : [
          `Not all of the data folder was looked through for files to hand back: ${maxEntries} entries of it are, and no folder that is closed.`,
        ];
    const { taken, left } = fitting(changed);
    const top = Directory.open(this.#path);
    try {
      const files: ScriptFile[] = [];
      for (const { name } of taken) {
        const content = await contentOf(top, name);
        if (content === undefined) left.push(name);
        else files.push({ name, content });
      }
      return { files, notices: [...notices, ...leftNotice(left)] };
    } finally {
      top.close();
    }
  }
}

/** `undefined` for a file that its maker has closed to the worker. */
async function contentOf(top: Directory, name: string): Promise<string | undefined> {
  try {
    const { bytes } = await readFile(top, name, { maxBytes: limits.programmaticFileBytes });
    return bytes.toString('base64');
  } catch (error) {
    if (error instanceof FileRefusal) return undefined;
    throw error;
  }
}

function leftNotice(left: readonly string[]): string[] {
  if (left.length === 0) return [];
  const named = left.slice(0, maxNamed).map((name) => JSON.stringify(name));
  const more = left.length - named.length;
  const mib = (bytes: number): number => bytes / 1024 / 1024;
  return [
    `Not handed back: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}. A script hands back at most ${limits.programmaticFiles} files of ${mib(limits.programmaticFileBytes)} MiB each and ${mib(limits.programmaticTotalBytes)} MiB in all, under plain names.`,
  ];
}

function fitting(files: readonly FoundFile[]): { taken: FoundFile[]; left: string[] } {
  const taken: FoundFile[] = [];
  const left: string[] = [];
  let total = 0;
  for (const file of files) {
    const bytes = Number(file.size);
    const fits =
      taken.length < limits.programmaticFiles &&
      bytes <= limits.programmaticFileBytes &&
      total + bytes <= limits.programmaticTotalBytes &&
      scriptFilesSchema.safeParse([{ name: file.name, content: '' }]).success;
    if (fits) {
      taken.push(file);
      total += bytes;
    } else left.push(file.name);
  }
  return { taken, left };
}

function look(path: string): { found: FoundFile[]; isComplete: boolean } {
  const top = Directory.open(path);
  try {
    const walk = new Walk();
    walk.through(top, '', 0);
    return walk;
  } finally {
    top.close();
  }
}

class Walk {
  readonly found: FoundFile[] = [];
  isComplete = true;
  #left = maxEntries;

  through(directory: Directory, prefix: string, depth: number): void {
    for (const { name, kind } of this.#listed(directory)) {
      this.#left -= 1;
      if (this.#left < 0 || depth > maxDepth) {
        this.isComplete = false;
        return;
      }
      if (kind === 'file') this.#note(directory, name, prefix);
      else if (kind === 'directory') this.#into(directory, name, `${prefix}${name}/`, depth);
    }
  }

  #listed(directory: Directory): ReturnType<Directory['list']> {
    try {
      return directory.list();
    } catch (error) {
      if (!(error instanceof FileRefusal)) throw error;
      // Its maker has closed it to the worker.
      this.isComplete = false;
      return [];
    }
  }

  #note(directory: Directory, name: string, prefix: string): void {
    const entry = directory.find(name);
    if (entry === undefined) return;
    closeSync(entry.fd);
    const { ino, size, mtimeNs, ctimeNs } = entry.stats;
    this.found.push({ name: `${prefix}${name}`, size, version: [ino, size, mtimeNs, ctimeNs].join() });
  }

  #into(parent: Directory, name: string, prefix: string, depth: number): void {
    let child: Directory;
    try {
      child = parent.child(name);
    } catch (error) {
      // A name that is no text, or a folder that its maker closed.
      if (error instanceof FileRefusal) return;
      throw error;
    }
    try {
      this.through(child, prefix, depth + 1);
    } finally {
      child.close();
    }
  }
}
