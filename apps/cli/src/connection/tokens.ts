import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../errors/cli-error.js';
import { createPrivateFile, isErrno } from './private-file.js';

export type TokenKind = 'caller' | 'admin' | 'worker';

/** Where the tokens of a state folder are kept, one file each. */
export function tokenFiles(stateFolder: string): Readonly<Record<TokenKind, string>> {
  const file = (kind: TokenKind) => join(stateFolder, 'tokens', kind);
  return { caller: file('caller'), admin: file('admin'), worker: file('worker') };
}

/** Makes the three tokens at the first start and keeps them from then on. */
export async function ensureTokens(stateFolder: string): Promise<Readonly<Record<TokenKind, string>>> {
  await mkdir(join(stateFolder, 'tokens'), { recursive: true, mode: 0o700 });
  const files = tokenFiles(stateFolder);
  const ensure = async (file: string) => {
    await createPrivateFile(file, `${randomBytes(32).toString('hex')}\n`);
    return readToken(file);
  };
  return {
    caller: await ensure(files.caller),
    admin: await ensure(files.admin),
    worker: await ensure(files.worker),
  };
}

/** @throws CliError where the file is missing or holds no token. */
export async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const why = isErrno(error, 'ENOENT') ? 'does not exist' : 'cannot be read';
    throw new CliError(`The token file ${file} ${why}.`, 'Name the right one with --token-file.', {
      cause: error,
    });
  });
  const token = text.trim();
  if (/^\S+$/.test(token)) return token;
  throw new CliError(`The token file ${file} holds no token.`, 'It should hold one line without blanks.');
}
