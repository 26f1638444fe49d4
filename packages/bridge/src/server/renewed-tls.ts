import type { TlsFiles } from './bridge-options.js';
import { keepRenewed, type Renewal } from './kept-renewed.js';
import { openTls, type TlsKeys } from './open-tls.js';

export interface TlsRenewal extends Pick<Renewal<TlsKeys>, 'present' | 'onRenewed' | 'onFault'> {
  readonly files: TlsFiles;
}

/**
 * Keeps a certificate renewed, as `keepRenewed` does. Between the exchange of one file and the other the two do not
 * belong together, which is a fault that passes.
 */
export function renewTls({ files, ...renewal }: TlsRenewal): () => void {
  return keepRenewed({
    ...renewal,
    read: () => openTls(files),
    isSame: (one, other) => one.cert === other.cert && one.key === other.key,
    everyMs: files.checkEveryMs,
  });
}
