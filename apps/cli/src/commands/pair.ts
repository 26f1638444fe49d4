import { pairingCodeSchema } from '@codelanes/protocol';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { authorityFlag, readAuthority } from '../connection/authority.js';
import { parseBridgeUrl } from '../connection/bridge-url.js';
import { defaultStateFolder, ensureStateFolder } from '../connection/state-folder.js';
import { CliError } from '../errors/cli-error.js';
import { shellLine } from '../exec/shell-line.js';

interface PairFlags {
  readonly caFile?: string;
  readonly state?: string;
  readonly insecureHttp?: boolean;
}

export function addPairCommand(program: Command): void {
  program
    .command('pair')
    .argument('<url>', 'address of the bridge')
    .argument('<code>', 'what "codelanes bridge pairing create" printed', pairingCode)
    .description('make this machine a worker of a bridge; its key is made here and stays here')
    .option('--state <dir>', 'where the key is kept; the worker has to be started with the same')
    .option(authorityFlag.flags, `${authorityFlag.description}; kept with the key`)
    .option('--insecure-http', 'allow plain http to another machine: whoever listens becomes the worker')
    .action(pair);
}

function pairingCode(text: string): string {
  if (pairingCodeSchema.safeParse(text).success) return text;
  throw new InvalidArgumentError(
    'Expected the 32 characters that "codelanes bridge pairing create" printed at the bridge; ask there for a new code where it is lost.',
  );
}

async function pair(url: string, code: string, flags: PairFlags): Promise<void> {
  const stateDir = flags.state ?? defaultStateFolder();
  await ensureStateFolder(stateDir);
  // Only this command and the worker need it; the others start faster without.
  const { PairingFailed, pairWorker } = await import('@codelanes/worker');
  try {
    const bridgeUrl = parseBridgeUrl(url, flags.insecureHttp ?? false);
    const authority = await readAuthority(flags.caFile);
    const { workerId, keyFile } = await pairWorker({ bridgeUrl, code, stateDir, authority });
    console.log(`This machine is the worker ${workerId} of ${bridgeUrl}.`);
    console.log(`Its key: ${keyFile}`);
    const where = flags.state === undefined ? [] : ['--state', flags.state];
    const words = ['codelanes', 'worker', ...where, '--worker-id', workerId, '--root', 'DIR'];
    console.log(`Start it with: ${shellLine(words)}`);
  } catch (error) {
    if (!(error instanceof PairingFailed)) throw error;
    throw new CliError(error.message, 'This machine is no worker of that bridge yet.', { cause: error });
  }
}
