import type { LanesView } from '@codelanes/protocol';
import { CodelanesError } from '@codelanes/protocol';
import type { Command } from 'commander';
import { BridgeClient } from '../client/bridge-client.js';
import type { EndpointFlags } from '../connection/endpoint.js';
import { resolveEndpoint } from '../connection/endpoint.js';
import { CliError } from '../errors/cli-error.js';
import { knownWorkersText } from '../lanes/known-workers-text.js';
import { lanesText } from '../lanes/lanes-text.js';
import { refuseExcessWords } from '../options/excess-words.js';
import { withEndpointOptions } from '../options/endpoint-options.js';
import { addLanesReleaseCommand } from './lanes-release.js';

interface LanesFlags extends EndpointFlags {
  readonly json?: boolean;
}

export function addLanesCommand(program: Command): void {
  const command = program
    .command('lanes')
    .description('show what runs, what waits, for whom, since when and why')
    .enablePositionalOptions()
    .allowExcessArguments()
    .option('--json', 'as the bridge tells it, for programs');
  withEndpointOptions(command).action(async (flags: LanesFlags) => {
    refuseExcessWords(command);
    await showLanes(flags);
  });
  addLanesReleaseCommand(command);
}

async function showLanes(flags: LanesFlags): Promise<void> {
  const endpoint = await resolveEndpoint(flags, 'admin');
  const client = new BridgeClient(endpoint);
  try {
    const view = await lanesOf(client, endpoint.workerId);
    console.log(flags.json === true ? JSON.stringify(view, null, 2) : lanesText(view));
  } finally {
    await client.close();
  }
}

async function lanesOf(client: BridgeClient, workerId: string): Promise<LanesView> {
  try {
    return await client.lanes(workerId);
  } catch (error) {
    if (!CodelanesError.is(error) || error.code !== 'WORKER_NOT_FOUND') throw error;
    throw new CliError(error.message, knownWorkersText(await client.workers()), { cause: error });
  }
}
