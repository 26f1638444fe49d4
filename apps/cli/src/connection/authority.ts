import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { CliError } from '../errors/cli-error.js';

export const authorityFlag = {
  flags: '--ca-file <file>',
  description:
    "PEM of the authority of the bridge's certificate, where no public one made it (or CODELANES_CA_FILE)",
} as const;

/**
 * The certificates, as PEM, by which that of a bridge is known; `undefined` where those of this machine are enough.
 *
 * @throws CliError where the file holds none.
 */
export async function readAuthority(
  flag: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const file = flag ?? environment['CODELANES_CA_FILE'];
  if (file === undefined) return undefined;
  try {
    const text = await readFile(file, 'utf8');
    // Of a chain it looks at the first one.
    new X509Certificate(text);
    return text;
  } catch (error) {
    throw new CliError(
      `The file ${file} holds no certificate of an authority.`,
      'Name one in PEM with --ca-file.',
      { cause: error },
    );
  }
}
