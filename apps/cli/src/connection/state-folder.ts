import { mkdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { CliError } from '../errors/cli-error.js';
import { isErrno } from './private-file.js';

/** Where tokens, journals and homes of lanes are kept, by the XDG base directory rules. */
export function defaultStateFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_STATE_HOME'];
  // The XDG rules say that a relative path is to be ignored.
  if (base !== undefined && isAbsolute(base)) return join(base, 'codelanes');
  return join(environment['HOME'] ?? homedir(), '.local', 'state', 'codelanes');
}

/**
 * Makes the folder where it is missing, closed to everybody else. One that is there is used as it is, tokens and all,
 * so nobody else may have had a hand in it.
 *
 * @throws CliError where it belongs to another user, or others may write there.
 */
export async function ensureStateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new CliError(`The state folder ${folder} cannot be made: ${whyNot(error)}.`, nameAnother, {
      cause: error,
    });
  });
  const { uid, mode } = await stat(folder);
  if (uid !== process.geteuid?.()) {
    throw new CliError(
      `The state folder ${folder} belongs to another user, who could read and change what is kept there.`,
      nameAnother,
    );
  }
  if ((mode & writableByOthers) !== 0) {
    throw new CliError(
      `The state folder ${folder} may be written by others, who could put tokens of their own there.`,
      `Look at what is in it, then close it with "chmod go-w ${folder}", or name another with --state.`,
    );
  }
}

const writableByOthers = 0o022;
const nameAnother = 'Name a folder of your own with --state.';

function whyNot(error: unknown): string {
  if (isErrno(error, 'EEXIST') || isErrno(error, 'ENOTDIR')) return 'a file is in the way';
  if (isErrno(error, 'EACCES') || isErrno(error, 'EPERM')) return 'you may not write there';
  return error instanceof Error ? error.message : String(error);
}
