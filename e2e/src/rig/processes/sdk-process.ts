import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  createBoundTool,
  createLaneTool,
  laneToolOptions,
  type SdkTool,
  type SdkToolOptions,
} from '@codelanes/librechat';
import { z } from 'zod';
import {
  type sdkCallSchema,
  sdkOrderSchema,
  type SdkOutcome,
  type SdkReport,
} from '../../librechat/sdk-call.js';

/*
 * The SDK in a process of its own, as in LibreChat's server: it is started with the folder that the SDK is installed
 * in, takes tool calls, and tells what the model would read.
 */

type Factory = (options: SdkToolOptions) => SdkTool & {
  invoke(args: object, config: object): Promise<unknown>;
};

const factory = z.custom<Factory>((value) => typeof value === 'function');
const sdkSchema = z.object({
  createBashExecutionTool: factory,
  createBashProgrammaticToolCallingTool: factory,
});

const messageSchema = z.object({
  content: z.string(),
  artifact: z.unknown(),
});

/** The tools that scripts may call. */
const searchSchema = { type: 'object', properties: { q: { type: 'string' } } };
const toolDefs = ['web-search', 'boom'].map((name) => ({
  name,
  description: name,
  parameters: searchSchema,
  allowed_callers: ['code_execution'],
}));
const toolMap = new Map(
  toolDefs.map(({ name }) => [
    name,
    {
      name,
      invoke: (input: { readonly q?: string }): Promise<unknown> =>
        name === 'boom' ? Promise.reject(new Error('kaput')) : Promise.resolve({ hits: [input.q] }),
    },
  ]),
);

const [, , folder = ''] = process.argv;
const load = createRequire(join(folder, 'package.json'));
const sdk = sdkSchema.parse(load('@librechat/agents'));
const aborts = new Map<number, AbortController>();

async function outcomeOf(
  { tool, make, lane, options, args, abortable }: z.output<typeof sdkCallSchema>,
  signal: AbortSignal,
): Promise<SdkOutcome> {
  const create = tool === 'bash' ? sdk.createBashExecutionTool : sdk.createBashProgrammaticToolCallingTool;
  const made = {
    plain: () => create(options),
    bound: () => create(laneToolOptions(options, lane ?? { workspaceId: '' })),
    kept: () => createBoundTool(create, options, lane ?? { workspaceId: '' }),
    choosing: () => createLaneTool(create, { ...options, workspaceId: lane?.workspaceId ?? '' }),
  }[make]();
  const toolCall = { id: 'call_1', name: made.name, args, type: 'tool_call', toolMap, toolDefs };
  try {
    const reply = await made.invoke(toolCall, {
      toolCall,
      toolMap,
      toolDefs,
      ...(abortable ? { signal } : {}),
    });
    const { content, artifact } = messageSchema.parse(reply);
    return { content, artifact: artifact ?? null };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

process.on('message', (message) => {
  const order = sdkOrderSchema.parse(message);
  if ('abort' in order) {
    aborts.get(order.id)?.abort(new Error('The host stopped the call.'));
    return;
  }
  const abort = new AbortController();
  aborts.set(order.id, abort);
  void outcomeOf(order.call, abort.signal).then((outcome) => {
    process.send?.({ id: order.id, outcome } satisfies SdkReport);
  });
});
