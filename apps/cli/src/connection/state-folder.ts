import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Where tokens, journals and homes of lanes are kept, by the XDG base directory rules. */
export function defaultStateFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_STATE_HOME'];
  // The XDG rules say that a relative path is to be ignored.
  if (base !== undefined && isAbsolute(base)) return join(base, 'codelanes');
  return join(environment['HOME'] ?? homedir(), '.local', 'state', 'codelanes');
}

/** Makes the folder where it is missing, closed to everybody else. */
export async function ensureStateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}
