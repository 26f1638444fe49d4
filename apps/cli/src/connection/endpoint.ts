import { CliError } from '../errors/cli-error.js';
import { readAuthority } from './authority.js';
import { parseBridgeUrl } from './bridge-url.js';
import { readConnection } from './connection-file.js';
import { defaultStateFolder } from './state-folder.js';
import { readToken } from './tokens.js';

/** How a command may be told where the bridge is; whatever is left out comes from `codelanes up`. */
export interface EndpointFlags {
  readonly url?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly worker?: string | undefined;
  readonly state?: string | undefined;
  readonly caFile?: string | undefined;
  readonly insecureHttp?: boolean | undefined;
}

/** A bridge, the right to use it, and one worker behind it. */
export interface Endpoint {
  readonly url: string;
  readonly token: string;
  readonly workerId: string;
  /** By which the bridge's certificate is known, as PEM; left out, by what this machine trusts. */
  readonly authority?: string | undefined;
  /** What the worker offers, where that is known without asking. */
  readonly workspaces: readonly string[];
}

/**
 * Flags win over CODELANES_URL, CODELANES_TOKEN and CODELANES_WORKER, and these over what `codelanes up` wrote.
 *
 * @throws CliError naming what is missing.
 */
export async function resolveEndpoint(
  flags: EndpointFlags,
  kind: 'caller' | 'admin',
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Endpoint> {
  const stateFolder = flags.state ?? defaultStateFolder(environment);
  const here = await readConnection(stateFolder);
  const url = flags.url ?? environment['CODELANES_URL'] ?? here?.url;
  if (url === undefined) {
    throw new CliError(
      `No bridge is known: nothing was started with the state folder ${stateFolder}.`,
      'Start one with "codelanes up --root DIR", or name one with --url and --token-file.',
    );
  }
  const parsedUrl = parseBridgeUrl(url, flags.insecureHttp ?? false);
  // A token of this machine must not be sent to whatever address a flag or variable names.
  const known = here?.url === url ? here : undefined;
  const workerId = flags.worker ?? environment['CODELANES_WORKER'] ?? known?.workerId;
  if (workerId === undefined) {
    throw new CliError(
      `Which worker of ${url} is meant is not known.`,
      'Name it with --worker, or set CODELANES_WORKER: it is the --worker-id of that worker, else the name of its machine.',
    );
  }
  return {
    url: parsedUrl,
    token: await tokenOf(flags.tokenFile, environment['CODELANES_TOKEN'], known?.tokenFiles[kind], url),
    workerId,
    authority: await readAuthority(flags.caFile, environment),
    workspaces: known?.workerId === workerId ? known.workspaces : [],
  };
}

async function tokenOf(
  flag: string | undefined,
  variable: string | undefined,
  known: string | undefined,
  url: string,
): Promise<string> {
  if (flag !== undefined) return readToken(flag);
  if (variable !== undefined) return variable;
  if (known !== undefined) return readToken(known);
  throw new CliError(
    `No token for ${url} is known.`,
    'Name its file with --token-file, or set CODELANES_TOKEN.',
  );
}
