import type { TlsFiles } from './bridge-options.js';
import { openTls, type TlsKeys } from './open-tls.js';

export interface TlsRenewal {
  readonly files: TlsFiles;
  /** What the files held when the server began with it. */
  readonly present: TlsKeys;
  readonly onRenewed: (keys: TlsKeys) => void;
  /** Once for each fault that lasts: the certificate before is served on. */
  readonly onFault: (error: Error) => void;
}

/**
 * Looks at the files of a certificate every while, and hands over what came into them: whoever renews a certificate
 * need not start the bridge again. Files are looked at, not watched: they may be links that are exchanged, on any
 * file system. Returns what ends it.
 */
export function renewTls({ files, present, onRenewed, onFault }: TlsRenewal): () => void {
  let served = present;
  let fault = '';
  const look = async () => {
    try {
      const found = await openTls(files);
      fault = '';
      if (found.cert === served.cert && found.key === served.key) return;
      served = found;
      onRenewed(found);
    } catch (error) {
      const known = error instanceof Error ? error : new Error(String(error));
      // Between the exchange of one file and the other the two do not belong together.
      if (known.message !== fault) onFault(known);
      fault = known.message;
    }
  };
  const timer = setInterval(() => void look(), files.checkEveryMs);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
