import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** What bubblewrap says before the command runs: the reason, if it fails. */
export class EarlyWords {
  readonly #stream: Readable;
  readonly #ended: Promise<void>;
  readonly #listen = (chunk: Buffer): void => {
    this.#text = `${this.#text}${chunk.toString()}`.slice(-1000);
  };
  #text = '';

  constructor(stream: Readable) {
    this.#stream = stream;
    this.#ended = finished(stream).catch(() => undefined);
    stream.on('data', this.#listen);
  }

  /** Leaves the stream, paused, to whoever reads the command's output. */
  stop(): void {
    this.#stream.off('data', this.#listen);
    this.#stream.pause();
  }

  async last(): Promise<string> {
    await this.#ended;
    const said = this.#text.trim().split('\n').at(-1) ?? '';
    return said === '' ? 'bubblewrap gave no reason.' : said;
  }
}
