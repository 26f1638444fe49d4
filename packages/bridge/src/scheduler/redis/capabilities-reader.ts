import { createHash } from 'node:crypto';
import { capabilitiesSchema, type Capabilities } from '@codelanes/protocol';

interface Known {
  readonly capabilities: Capabilities;
  /** The SHA-1 of their text, which scripts compute as well. */
  readonly capabilitiesId: string;
}

/** Workers whose latest capabilities are kept. */
const keptWorkers = 1_000;

/** Reads what workers can do; the same text, which is asked for again and again, is parsed once. */
export class CapabilitiesReader {
  /** The oldest first. */
  readonly #latest = new Map<string, { readonly text: string; readonly known: Known }>();

  /** @throws ZodError where the text is no capabilities. */
  read(workerId: string, text: string): Known {
    const latest = this.#latest.get(workerId);
    if (latest?.text === text) return latest.known;
    const capabilities = capabilitiesSchema.parse(JSON.parse(text));
    const known = { capabilities, capabilitiesId: createHash('sha1').update(text).digest('hex') };
    this.#latest.delete(workerId);
    this.#latest.set(workerId, { text, known });
    const [oldest] = this.#latest.keys();
    if (this.#latest.size > keptWorkers && oldest !== undefined) this.#latest.delete(oldest);
    return known;
  }
}
