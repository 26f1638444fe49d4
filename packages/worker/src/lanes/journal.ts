import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { journalIdSchema } from '@codelanes/protocol';
import { Directory } from '../files/directory.js';
import { readFile } from '../files/read.js';
import { FileRefusal } from '../files/refusal.js';
import { writeAtomically } from '../files/write.js';
import { AppendFile } from './append-file.js';
import {
  parseJournal,
  type CommandRecord,
  type JournalRecord,
  type StartRecord,
  type WriteRecord,
} from './journal-record.js';

const idFile = 'id';
const recordsFile = 'journal.jsonl';
const maxJournalBytes = 1024 ** 3;

export interface JournalOptions {
  /** How long the id of an ended call is kept, in milliseconds; a day by default. */
  readonly rememberMs?: number | undefined;
  /** The file is rewritten when it has grown by this many bytes; 4 MiB by default. */
  readonly compactAfterBytes?: number | undefined;
  /** Milliseconds since 1970; a setting for tests. */
  readonly now?: (() => number) | undefined;
}

/**
 * What a worker has begun on one root, kept over its end. A call may start only after its record is on disk,
 * which is when the promise of `startCommand` or `startWrite` resolves; a call that the journal knows never
 * starts again. Only the holder of the root's lock opens it.
 */
export class Journal {
  /** Random, made with the journal and kept as long as it: 32 hex digits. */
  readonly id: string;
  readonly #folder: Directory;
  readonly #rememberMs: number;
  readonly #compactAfterBytes: number;
  readonly #now: () => number;
  readonly #open = new Map<string, StartRecord>();
  readonly #ended = new Map<string, number>();
  #file: AppendFile;
  #compactAt: number;
  #compacting: Promise<void> | undefined;
  #isOver = false;

  private constructor(
    id: string,
    folder: Directory,
    records: readonly JournalRecord[],
    options: JournalOptions,
  ) {
    this.id = id;
    this.#folder = folder;
    this.#rememberMs = options.rememberMs ?? 24 * 60 * 60 * 1000;
    this.#compactAfterBytes = options.compactAfterBytes ?? 4 * 1024 * 1024;
    this.#now = options.now ?? Date.now;
    for (const record of records) this.#note(record);
    this.#file = new AppendFile(this.#path);
    this.#compactAt = 0;
  }

  /**
   * Opens or makes the journal of a folder and rewrites it without what need not be kept.
   *
   * @throws {JournalDamaged}
   */
  static async open(path: string, options: JournalOptions = {}): Promise<Journal> {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const folder = Directory.open(path);
    try {
      const id = await readOrMakeId(folder);
      const records = parseJournal((await readText(folder, recordsFile)) ?? '', join(path, recordsFile));
      const journal = new Journal(id, folder, records, options);
      await journal.#compact();
      return journal;
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  /**
   * Whether a call has started by this journal's word. An ended one is known for `rememberMs`, whenever the file is
   * rewritten: a durable request may have its id, and the call made of it, again after that.
   */
  knows(call: string): boolean {
    const endedAt = this.#ended.get(call);
    return this.#open.has(call) || (endedAt !== undefined && endedAt >= this.#oldestKnown());
  }

  /** What has started and not ended, oldest first. */
  openEntries(): StartRecord[] {
    return [...this.#open.values()];
  }

  /** Resolves when the start is on disk: the earliest moment at which the command may be let run. */
  startCommand(start: Omit<CommandRecord, 'kind' | 'at'>): Promise<void> {
    return this.#start({ kind: 'command', ...start, at: this.#now() });
  }

  /** Like `startCommand`, for a further process of a call that has started and not ended. */
  async continueCommand(start: Omit<CommandRecord, 'kind' | 'at'>): Promise<void> {
    if (!this.#open.has(start.call)) throw new Error(`Call ${start.call} is not open and cannot go on.`);
    await this.#append({ kind: 'command', ...start, at: this.#now() });
  }

  /** Resolves when it is on disk that the write may have begun. */
  startWrite(start: Omit<WriteRecord, 'kind' | 'at'>): Promise<void> {
    return this.#start({ kind: 'write', ...start, at: this.#now() });
  }

  /** Says that nothing of a call runs any more; resolves when that is on disk. Unknown calls are ignored. */
  async end(call: string): Promise<void> {
    if (!this.#open.has(call)) return;
    await this.#append({ kind: 'end', call, at: this.#now() });
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#compacting;
    await this.#file.close();
    this.#folder.close();
  }

  get #path(): string {
    return this.#folder.place(recordsFile);
  }

  #oldestKnown(): number {
    return this.#now() - this.#rememberMs;
  }

  async #start(record: StartRecord): Promise<void> {
    if (this.knows(record.call)) {
      throw new Error(`Call ${record.call} has started before and is never started twice.`);
    }
    await this.#append(record);
  }

  async #append(record: JournalRecord): Promise<void> {
    // Noted before the wait, so that a second start of the same call is refused from this moment on.
    this.#note(record);
    // No gap between the last look and the append: a compaction that began in it would close the file.
    while (this.#compacting !== undefined) await this.#compacting;
    try {
      // A compaction may have found no descriptor for the new file.
      if (this.#file.isClosed && !this.#isOver) this.#file = new AppendFile(this.#path);
      await this.#file.append(JSON.stringify(record));
    } catch (error) {
      if (record.kind !== 'end') this.#note({ kind: 'end', call: record.call, at: record.at });
      throw error;
    }
    if (this.#file.size > this.#compactAt) this.#compacting ??= this.#compactLater();
  }

  #note(record: JournalRecord): void {
    if (record.kind === 'end') {
      this.#open.delete(record.call);
      this.#ended.set(record.call, record.at);
    } else this.#open.set(record.call, record);
  }

  async #compactLater(): Promise<void> {
    try {
      await this.#compact();
    } catch {
      // The old file still says everything; the next attempt comes when it has grown as much again.
      this.#compactAt = this.#file.size + this.#compactAfterBytes;
    } finally {
      this.#compacting = undefined;
    }
  }

  async #compact(): Promise<void> {
    const oldest = this.#oldestKnown();
    for (const [call, at] of this.#ended) if (at < oldest) this.#ended.delete(call);
    const records: JournalRecord[] = [
      ...[...this.#ended].map(([call, at]) => ({ kind: 'end' as const, call, at })),
      ...this.#open.values(),
    ];
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    // Appends that are under way end first; later ones wait for the new file.
    await this.#file.close();
    try {
      await writeAtomically(this.#folder, recordsFile, Buffer.from(text), {
        create: 'either',
        mode: 0o600,
      });
    } finally {
      this.#file = new AppendFile(this.#path);
    }
    this.#compactAt = this.#file.size + this.#compactAfterBytes;
  }
}

/** One id for a worker with several roots: another set of journals is another id. */
export function combinedJournalId(ids: readonly string[]): string {
  const [only] = ids;
  if (only !== undefined && ids.length === 1) return only;
  return createHash('sha256')
    .update([...ids].sort().join(' '))
    .digest('hex')
    .slice(0, 32);
}

async function readOrMakeId(folder: Directory): Promise<string> {
  const known = journalIdSchema.safeParse((await readText(folder, idFile))?.trim());
  if (known.success) return known.data;
  const id = randomBytes(16).toString('hex');
  await writeAtomically(folder, idFile, Buffer.from(`${id}\n`), { create: 'either', mode: 0o600 });
  return id;
}

async function readText(folder: Directory, name: string): Promise<string | undefined> {
  try {
    return (await readFile(folder, name, { maxBytes: maxJournalBytes })).bytes.toString('utf8');
  } catch (error) {
    if (error instanceof FileRefusal && error.fault === 'not_found') return undefined;
    throw error;
  }
}
