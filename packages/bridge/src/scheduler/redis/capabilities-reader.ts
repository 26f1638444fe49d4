import { capabilitiesSchema, type Capabilities } from '@codelanes/protocol';

/** Reads what workers can do; the same text, which every call of a worker asks for, is parsed once. */
export class CapabilitiesReader {
  readonly #latest = new Map<string, { readonly text: string; readonly capabilities: Capabilities }>();

  /** @throws ZodError where the text is no capabilities. */
  read(workerId: string, text: string): Capabilities {
    const latest = this.#latest.get(workerId);
    if (latest?.text === text) return latest.capabilities;
    const capabilities = capabilitiesSchema.parse(JSON.parse(text));
    this.#latest.set(workerId, { text, capabilities });
    return capabilities;
  }
}
