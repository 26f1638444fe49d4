import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { workerIdSchema, workspaceIdSchema } from '@codelanes/protocol';
import { z } from 'zod';
import { CliError } from '../errors/cli-error.js';
import { isErrno, replacePrivateFile } from './private-file.js';

/** How the other commands find what `codelanes up` started. */
const connectionSchema = z.strictObject({
  version: z.literal(1),
  url: z.url(),
  workerId: workerIdSchema,
  workspaces: z.array(workspaceIdSchema).min(1),
  tokenFiles: z.strictObject({ caller: z.string(), admin: z.string() }),
});
export type Connection = z.infer<typeof connectionSchema>;

export function connectionFile(stateFolder: string): string {
  return join(stateFolder, 'connection.json');
}

export async function writeConnection(stateFolder: string, connection: Connection): Promise<void> {
  await replacePrivateFile(connectionFile(stateFolder), `${JSON.stringify(connection, null, 2)}\n`);
}

/**
 * @returns `undefined` where nothing was started with this state folder.
 * @throws CliError where the file is there and cannot be understood.
 */
export async function readConnection(stateFolder: string): Promise<Connection | undefined> {
  const file = connectionFile(stateFolder);
  try {
    return connectionSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw new CliError(
      `${file} cannot be understood.`,
      'Start "codelanes up" again: it writes this file anew.',
      {
        cause: error,
      },
    );
  }
}
