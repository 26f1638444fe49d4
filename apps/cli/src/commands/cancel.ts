import type { CancelReply } from '@codelanes/protocol';
import { callIdSchema } from '@codelanes/protocol';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { BridgeClient } from '../client/bridge-client.js';
import type { EndpointFlags } from '../connection/endpoint.js';
import { resolveEndpoint } from '../connection/endpoint.js';
import { withEndpointOptions } from '../options/endpoint-options.js';

const stateTexts: Readonly<Record<CancelReply['state'], string>> = {
  withdrawn: 'was taken out of the queue; it never ran.',
  cancelling: 'is being stopped by its worker.',
  settled: 'had already ended.',
};

export function addCancelCommand(program: Command): void {
  const command = program
    .command('cancel')
    .description('take a waiting call back, or have a running one stopped')
    .argument('<call>', 'id of the call, as "codelanes lanes" shows it', callId);
  withEndpointOptions(command).action(async (call: string, flags: EndpointFlags) => {
    const client = new BridgeClient(await resolveEndpoint(flags, 'admin'));
    try {
      const { callId: id, state } = await client.cancel(call);
      console.log(`Call ${id} ${stateTexts[state]}`);
    } finally {
      await client.close();
    }
  });
}

function callId(text: string): string {
  if (callIdSchema.safeParse(text).success) return text;
  throw new InvalidArgumentError('Expected 32 lower-case hex digits, as "codelanes lanes" shows them.');
}
