import { lstatSync } from 'node:fs';
import { UntrustedPath, walkTrusted, type TrustedPath } from './trusted-path.js';

/**
 * Finds a file or folder that nobody but this user can read: no link itself, reached by trusted places, with no
 * rights for group and others.
 *
 * @throws {UntrustedPath}
 */
export function findPrivate(path: string, kind: 'file' | 'folder'): TrustedPath {
  const trusted = walkTrusted(path);
  const stats = lstatSync(path);
  if (stats.isSymbolicLink())
    throw new UntrustedPath(`"${path}" is a symbolic link; expected the ${kind} itself.`);
  if (kind === 'file' ? !stats.isFile() : !stats.isDirectory()) {
    throw new UntrustedPath(`"${path}" is no ${kind}; check the path.`);
  }
  if ((stats.mode & 0o077) !== 0) {
    throw new UntrustedPath(`"${path}" is open to others; chmod ${kind === 'file' ? '600' : '700'} it.`);
  }
  return trusted;
}
