import { readFile } from 'node:fs/promises';
import type { KeySource } from './key-source.js';
import type { VerificationKey } from './verification-keys.js';
import { keyFor, parseVerificationKeys } from './verification-keys.js';

/** What a file of keys holds. */
export interface KeyFile {
  readonly text: string;
  readonly keys: readonly VerificationKey[];
}

/** @throws Error that names the file, and why it cannot be used. */
export async function readKeyFile(file: string): Promise<KeyFile> {
  try {
    const text = await readFile(file, 'utf8');
    return { text, keys: parseVerificationKeys(text) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The key file ${file} cannot be used: ${why}.`, { cause: error });
  }
}

/** The keys of a file, as it was read last. */
export class FileKeys implements KeySource {
  #keys: readonly VerificationKey[];
  #version = 0;

  constructor({ keys }: KeyFile) {
    this.#keys = keys;
  }

  get version(): number {
    return this.#version;
  }

  find(keyId: string | undefined): VerificationKey | undefined {
    return keyFor(this.#keys, keyId);
  }

  /** From here on only these count. */
  replace({ keys }: KeyFile): void {
    this.#keys = keys;
    this.#version += 1;
  }
}
