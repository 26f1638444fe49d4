import {
  closeSync,
  constants,
  fdatasync as fdatasyncCallback,
  fstatSync,
  ftruncateSync,
  openSync,
  write as writeCallback,
} from 'node:fs';
import { promisify } from 'node:util';

const fdatasync = promisify(fdatasyncCallback);
const write = promisify(writeCallback);

interface Pending {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A file that only grows by whole lines. An append is on disk when its promise resolves; appends that come
 * while a sync runs share the next one.
 */
export class AppendFile {
  readonly #fd: number;
  #size: number;
  #closed = false;
  #pending: Pending[] = [];
  #flushing: Promise<void> | undefined;

  constructor(file: string) {
    this.#fd = openSync(
      file,
      constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
      0o600,
    );
    this.#size = fstatSync(this.#fd).size;
  }

  /** Bytes that are on disk. */
  get size(): number {
    return this.#size;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  append(line: string): Promise<void> {
    // The number of a closed descriptor may be another file's by now.
    if (this.#closed) return Promise.reject(new Error('This file is closed.'));
    return new Promise((resolve, reject) => {
      this.#pending.push({ line, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /** Waits for what was appended, then closes; once. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#flushing;
    closeSync(this.#fd);
  }

  async #flush(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0);
      try {
        await this.#writeSynced(Buffer.from(batch.map(({ line }) => `${line}\n`).join('')));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#flushing = undefined;
  }

  async #writeSynced(bytes: Buffer): Promise<void> {
    try {
      for (let offset = 0; offset < bytes.length;) {
        const { bytesWritten } = await write(this.#fd, bytes, offset, bytes.length - offset);
        offset += bytesWritten;
      }
      await fdatasync(this.#fd);
      this.#size += bytes.length;
    } catch (error) {
      // Half a line left in the middle would look like damage to the next reader.
      ftruncateSync(this.#fd, this.#size);
      throw error;
    }
  }
}
