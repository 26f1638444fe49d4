import { randomBytes } from 'node:crypto';
import { constants, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `O_TMPFILE` of Linux, which Node does not name: a file that never has a name. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;

/** An open file that has this content and no name, positioned at its start. The caller closes it. */
export function unnamedFile(content: string | Uint8Array): number {
  const descriptor = openUnnamed(tmpdir());
  // With an explicit position the descriptor's own offset stays at the start, where bubblewrap reads.
  if (content.length > 0) writeSync(descriptor, Buffer.from(content), 0, null, 0);
  return descriptor;
}

function openUnnamed(folder: string): number {
  try {
    return openSync(folder, O_TMPFILE | constants.O_RDWR | constants.O_EXCL, 0o600);
  } catch {
    // Some file systems make no files without a name.
    const path = join(folder, `codelanes-${randomBytes(12).toString('hex')}`);
    const descriptor = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    return descriptor;
  }
}
