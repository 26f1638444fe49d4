import type { Directory } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';

/** Why a folder cannot be part of a lane; the message continues a sentence that begins with its name. */
export class FolderFault extends Error {
  override readonly name = 'FolderFault';
  readonly missing: boolean;
  /** Continues a sentence that begins with "To use it,". */
  readonly remedy: string;

  constructor(message: string, remedy: string, options: ErrorOptions & { missing?: boolean } = {}) {
    super(message, options);
    this.remedy = remedy;
    this.missing = options.missing ?? false;
  }
}

/**
 * Opens a folder of a lane: a real directory on the checkout's own mount that belongs to the checkout's owner
 * or to the worker.
 *
 * @throws {FolderFault}
 */
export function openLaneFolder(checkout: Directory, parent: Directory, name: string): Directory {
  const directory = openReal(parent, name);
  try {
    if (directory.stats.dev !== checkout.stats.dev || directory.mount !== checkout.mount) {
      throw new FolderFault('is a mount point or lies on another device', 'unmount it');
    }
    if (
      directory.stats.uid !== checkout.stats.uid &&
      directory.stats.uid !== BigInt(process.geteuid?.() ?? -1)
    ) {
      throw new FolderFault(
        'belongs to another user than the checkout',
        'give it to the owner of the checkout',
      );
    }
    return directory;
  } catch (error) {
    directory.close();
    throw error;
  }
}

function openReal(parent: Directory, name: string): Directory {
  try {
    return parent.child(name);
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    const remedy = 'put a real directory there';
    if (error.fault === 'not_found') {
      throw new FolderFault('does not exist', remedy, { cause: error, missing: true });
    }
    const fault =
      error.fault === 'symlink' ? 'is a symbolic link' : 'is not a directory that the worker can open';
    throw new FolderFault(fault, remedy, { cause: error });
  }
}
