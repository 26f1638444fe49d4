import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DefinitionError, parseDefinition, type EnvironmentDefinition } from './definition.js';

const maxBytes = 64 * 1024;

/** A definition with its root as an absolute path. */
export interface LoadedDefinition extends EnvironmentDefinition {
  readonly file: string;
}

/**
 * Loads a definition that only its operator can have written: one regular file with one name, owned by this
 * user or root, writable by nobody else, at most 64 KiB of UTF-8.
 *
 * @throws {DefinitionError}
 */
export function loadDefinition(path: string): LoadedDefinition {
  const file = resolve(path);
  const definition = parseDefinition(readTrusted(file), file);
  return { ...definition, root: resolve(dirname(file), definition.root), file };
}

function readTrusted(file: string): string {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const link = error instanceof Error && 'code' in error && error.code === 'ELOOP';
    throw new DefinitionError(
      link
        ? `${file}: is a symbolic link; name the file itself.`
        : `${file}: cannot be opened; check the path.`,
      { cause: error },
    );
  }
  try {
    const fault = faultOf(fd);
    if (fault !== undefined) throw new DefinitionError(`${file}: ${fault}`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(readFileSync(fd));
  } catch (error) {
    if (error instanceof DefinitionError) throw error;
    throw new DefinitionError(`${file}: is not UTF-8 text.`, { cause: error });
  } finally {
    closeSync(fd);
  }
}

function faultOf(fd: number): string | undefined {
  const stats = fstatSync(fd);
  if (!stats.isFile()) return 'is not a regular file.';
  if (stats.size > maxBytes) return `has more than ${maxBytes} bytes.`;
  if (stats.nlink !== 1) return 'has more than one hard link; a definition has one name only.';
  if (stats.uid !== process.getuid?.() && stats.uid !== 0) return 'belongs to another user; chown it.';
  if ((stats.mode & 0o022) !== 0) return 'may be written by others; chmod go-w it.';
  return undefined;
}
