import type { Command } from 'commander';
import { BridgeClient } from '../client/bridge-client.js';
import type { EndpointFlags } from '../connection/endpoint.js';
import { resolveEndpoint } from '../connection/endpoint.js';
import { lanesText } from '../lanes/lanes-text.js';
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
    .option('--json', 'as the bridge tells it, for programs');
  withEndpointOptions(command).action(showLanes);
  addLanesReleaseCommand(command);
}

async function showLanes(flags: LanesFlags): Promise<void> {
  const endpoint = await resolveEndpoint(flags, 'admin');
  const client = new BridgeClient(endpoint);
  try {
    const view = await client.lanes(endpoint.workerId);
    console.log(flags.json === true ? JSON.stringify(view, null, 2) : lanesText(view));
  } finally {
    await client.close();
  }
}
