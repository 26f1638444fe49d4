import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { TlsFiles } from './bridge-options.js';

/** A certificate and its key, as PEM. */
export interface TlsKeys {
  readonly cert: string;
  readonly key: string;
}

/**
 * Reads the files of a certificate.
 *
 * @throws Error that names the file that cannot be used, or says that the two do not belong together.
 */
export async function openTls(files: Pick<TlsFiles, 'cert' | 'key'>): Promise<TlsKeys> {
  const cert = await readFile(files.cert, 'utf8').catch(unusable('certificate', files.cert));
  const key = await readFile(files.key, 'utf8').catch(unusable('key', files.key));
  const certificate = understood('certificate', files.cert, () => new X509Certificate(cert));
  const privateKey = understood('key', files.key, () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(`The TLS key ${files.key} is not that of the certificate ${files.cert}.`);
  }
  return { cert, key };
}

function unusable(what: string, file: string): (error: unknown) => never {
  return (error) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The TLS ${what} ${file} cannot be used: ${why}.`, { cause: error });
  };
}

function understood<T>(what: string, file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    return unusable(what, file)(error);
  }
}
