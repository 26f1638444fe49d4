import type { Command } from 'commander';
import { authorityFlag } from '../connection/authority.js';

/** The flags of every command that talks to a bridge about one of its workers. */
export function withEndpointOptions(command: Command): Command {
  return withAddressOptions(command).option(
    '--worker <id>',
    'which worker (default: CODELANES_WORKER, else as above)',
  );
}

/** The flags of every command that talks to a bridge. */
export function withAddressOptions(command: Command): Command {
  return command
    .option('--url <url>', 'address of the bridge (default: CODELANES_URL, else what "codelanes up" started)')
    .option('--token-file <file>', 'file with the token for it (default: CODELANES_TOKEN, else as above)')
    .option('--state <dir>', 'state folder of the "codelanes up" that is meant')
    .option(authorityFlag.flags, authorityFlag.description)
    .option('--insecure-http', 'allow plain http to another machine: the token travels in clear text');
}
