import { bindingSchema } from '@codelanes/protocol';
import type { Binding } from '@codelanes/protocol';
import type { Command } from 'commander';
import { BridgeClient } from '../client/bridge-client.js';
import type { Endpoint, EndpointFlags } from '../connection/endpoint.js';
import { resolveEndpoint } from '../connection/endpoint.js';
import { CliError } from '../errors/cli-error.js';
import { withAddressOptions } from '../options/endpoint-options.js';

interface CreateFlags extends Omit<EndpointFlags, 'worker'> {
  readonly tenant?: string;
  readonly for?: string;
}

/** `codelanes bridge pairing …`, for the administrator of a bridge. */
export function addBridgePairingCommand(bridge: Command): void {
  const pairing = bridge.command('pairing').description('let machines in as workers, and send them away');
  withAddressOptions(
    pairing
      .command('create')
      .argument('<worker>', 'the identity that the machine gets')
      .description('make a code by which one machine becomes that worker')
      .option('--tenant <id>', 'the worker works for callers of this tenant only')
      .option('--for <type:id>', 'and of these for user:ID, role:ID, group:ID (default: all)'),
  ).action(create);
  withAddressOptions(
    pairing
      .command('revoke')
      .argument('<worker>', 'the identity that ends')
      .description('send a worker away: its key is worth nothing from then on'),
  ).action(revoke);
}

async function create(worker: string, flags: CreateFlags): Promise<void> {
  const endpoint = await resolveEndpoint({ ...flags, worker }, 'admin');
  const { code, expiresAt } = await asked(endpoint, (client) => client.pair(worker, bindingOf(flags)));
  console.log('On the machine of the worker, within ten minutes:');
  const authority = endpoint.authority === undefined ? '' : ' --ca-file FILE';
  console.log(`  codelanes pair ${endpoint.url} ${code}${authority}`);
  console.error(`The code can be used once, until ${expiresAt}; whoever has it becomes "${worker}".`);
}

async function revoke(worker: string, flags: Omit<EndpointFlags, 'worker'>): Promise<void> {
  const endpoint = await resolveEndpoint({ ...flags, worker }, 'admin');
  const known = await asked(endpoint, async (client) => {
    const workers = await client.workers();
    await client.revoke(worker);
    return workers;
  });
  console.log(`${worker} is let in no more. It comes back by a new pairing only.`);
  if (known.includes(worker)) return;
  // A slip of the pen would leave the machine in that was to be sent away.
  console.error(`No worker of that name has been heard of lately; ${heardOf(known)}`);
}

function heardOf(workers: readonly string[]): string {
  return workers.length === 0 ? 'nor any other.' : `those that have: ${workers.join(', ')}.`;
}

async function asked<T>(endpoint: Endpoint, ask: (client: BridgeClient) => Promise<T>): Promise<T> {
  const client = new BridgeClient(endpoint);
  try {
    return await ask(client);
  } finally {
    await client.close();
  }
}

function bindingOf({ tenant, for: whom }: CreateFlags): Binding | undefined {
  if (tenant === undefined) {
    if (whom === undefined) return undefined;
    throw new CliError('--for says nothing without a tenant.', 'Add --tenant ID.');
  }
  const [type, ...rest] = (whom ?? `tenant:${tenant}`).split(':');
  const parsed = bindingSchema.safeParse({ tenantId: tenant, principal: { type, id: rest.join(':') } });
  if (parsed.success) return parsed.data;
  throw new CliError(
    `"${whom ?? tenant}" is nobody that a worker can work for.`,
    'Write --for user:ID, role:ID or group:ID.',
  );
}
