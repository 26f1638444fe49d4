import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';

export interface KeptRecord {
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

const fileSchema = z.strictObject({
  version: z.literal(1),
  records: z.record(z.string(), z.strictObject({ text: z.string(), until: z.number() })),
});

/** The file in which one bridge keeps its pairings, for its owner only. It holds public keys and digests, no secret. */
export class PairingFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** @throws Error where it is there and others could have written it, or it cannot be understood. */
  async read(): Promise<Map<string, KeptRecord>> {
    const text = await this.#text();
    if (text === undefined) return new Map();
    try {
      return new Map(Object.entries(fileSchema.parse(JSON.parse(text)).records));
    } catch (error) {
      throw new Error(`The file of pairings ${this.#path} cannot be understood; move it away.`, {
        cause: error,
      });
    }
  }

  /** Resolves when it is on the disk; a reader sees the old records or the new ones, whatever happens. */
  async write(records: ReadonlyMap<string, KeptRecord>): Promise<void> {
    const content = { version: 1, records: Object.fromEntries(records) };
    const temporary = `${this.#path}.${randomUUID()}`;
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(content, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, this.#path);
    await syncFolder(dirname(this.#path));
  }

  async #text(): Promise<string | undefined> {
    const found = await stat(this.#path).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (found === undefined) return undefined;
    if ((found.mode & 0o077) !== 0) {
      throw new Error(
        `The file of pairings ${this.#path} is open to others; make it yours alone (chmod 600).`,
      );
    }
    return readFile(this.#path, 'utf8');
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
