import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { CliError } from '../errors/cli-error.js';
import { parseBridgeUrl } from './bridge-url.js';
import { defaultPort } from './default-port.js';
import { readToken, tokenFiles } from './tokens.js';

export interface AccessFlags {
  readonly bridge?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly insecureHttp?: boolean | undefined;
}

/** Which bridge a worker belongs to, and what it shows there. */
export type WorkerAccess = { readonly bridgeUrl: string } & (
  { readonly keyFile: string } | { readonly token: string }
);

/**
 * A worker that is paired has a key for one bridge; any other shows the token for workers.
 *
 * @throws CliError where it has neither, or the key is for another bridge than the flag names.
 */
export async function workerAccess(
  { bridge, tokenFile, insecureHttp = false }: AccessFlags,
  state: string,
  workerId: string,
): Promise<WorkerAccess> {
  const { keyFileOf, readWorkerKey } = await import('@codelanes/worker');
  const keyFile = keyFileOf(state, workerId);
  if (tokenFile === undefined && existsSync(keyFile)) {
    const paired = readWorkerKey(keyFile).bridgeUrl;
    const bridgeUrl = parseBridgeUrl(bridge ?? paired, insecureHttp);
    if (bridgeUrl === paired) return { bridgeUrl, keyFile };
    throw new CliError(
      `This machine is the worker ${workerId} of ${paired}, not of ${bridgeUrl}.`,
      'Leave --bridge out, or pair it with that bridge by "codelanes pair", with a --state of its own.',
    );
  }
  const file = tokenFile ?? tokenFiles(state).worker;
  if (tokenFile === undefined && !existsSync(file)) throw await noAccess(workerId, dirname(keyFile), file);
  return {
    bridgeUrl: parseBridgeUrl(bridge ?? `http://127.0.0.1:${defaultPort}`, insecureHttp),
    token: await readToken(file),
  };
}

async function noAccess(workerId: string, pairings: string, tokenFile: string): Promise<CliError> {
  const paired = (await readdir(pairings).catch(() => [])).filter((name) => name.endsWith('.json'));
  const [first, ...others] = paired.map((name) => basename(name, '.json'));
  if (first === undefined) {
    return new CliError(
      `No bridge lets in a worker ${workerId}: it has neither a key in ${pairings} nor a token in ${tokenFile}.`,
      'Pair this machine by "codelanes pair URL CODE", or name the token of the bridge for workers with --token-file.',
    );
  }
  return new CliError(
    `This machine is paired as ${[first, ...others].join(' and ')}, not as ${workerId}.`,
    `Add --worker-id ${first}.`,
  );
}
