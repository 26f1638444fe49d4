import { worktreeNameSchema } from '@codelanes/protocol';
import { laneToolOptions, type BoundLane, type SdkToolOptions } from './lane-tool-options.js';

/** What is used of the tools that `@librechat/agents` makes; they are LangChain's structured tools. */
export interface SdkTool {
  readonly name: string;
  /** A JSON schema. */
  schema: unknown;
  func(input: object, ...rest: unknown[]): Promise<unknown>;
}

/**
 * The same tool, which no longer passes on arguments that its schema does not have. The SDK copies every argument of
 * the model into the body that it sends, `workspace_worktree` and `cwd` too.
 *
 * @throws TypeError where the schema of the tool lists no arguments.
 */
export function withoutLeakedArguments<T extends SdkTool>(tool: T): T {
  const known = new Set(Object.keys(objectSchemaOf(tool).properties));
  const run = tool.func.bind(tool);
  return Object.assign(tool, {
    func: (input: object, ...rest: unknown[]) =>
      run(Object.fromEntries(Object.entries(input).filter(([key]) => known.has(key))), ...rest),
  });
}

/**
 * A tool of the SDK that works in one lane alone, whatever the model writes: nothing but the arguments that the tool has
 * reaches the wire, continuations of programmatic calls included.
 *
 * `create` is `createBashExecutionTool` or `createBashProgrammaticToolCallingTool`.
 *
 * @throws TypeError as `laneToolOptions` and `withoutLeakedArguments`.
 */
export function createBoundTool<O extends SdkToolOptions, T extends SdkTool>(
  create: (options: O) => T,
  options: O,
  lane: BoundLane,
): T {
  return withoutLeakedArguments(create(laneToolOptions(options, lane)));
}

/** The argument that names the lane. */
const argument = 'worktree';

const argumentSchema = {
  type: 'string',
  maxLength: 128,
  description:
    'The name of the linked worktree to work in, such as "fix-login" for .worktrees/fix-login; paths are then relative to it. Different worktrees run at the same time. Without it the call is for the whole checkout: it waits for all worktrees and they wait for it.',
};

/**
 * A tool of the SDK with one more argument, `worktree`, by which the model chooses the lane of each call. Nothing else
 * that the model writes reaches the wire but the arguments that the tool has.
 *
 * `create` is `createBashExecutionTool` or `createBashProgrammaticToolCallingTool`.
 */
export function createLaneTool<O extends SdkToolOptions, T extends SdkTool>(
  create: (options: O) => T,
  options: O & { readonly workspaceId: string },
): T {
  const tool = withoutLeakedArguments(create(options));
  const schema = objectSchemaOf(tool);
  const runInCheckout = tool.func.bind(tool);
  return Object.assign(tool, {
    schema: { ...schema, properties: { ...schema.properties, [argument]: argumentSchema } },
    func: async (input: object, ...rest: unknown[]) => {
      const { [argument]: worktree, ...others }: Readonly<Record<string, unknown>> = { ...input };
      if (worktree === undefined || worktree === null || worktree === '')
        return runInCheckout(others, ...rest);
      const name = worktreeNameSchema.safeParse(worktree).data;
      if (name === undefined) {
        throw new Error(
          `No worktree is named ${JSON.stringify(worktree)}: give the name alone, such as "fix-login". Nothing was started.`,
        );
      }
      const lane = { workspaceId: options.workspaceId, worktree: name };
      return createBoundTool(create, options, lane).func(others, ...rest);
    },
  });
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, unknown>>;
}

function objectSchemaOf({ name, schema }: SdkTool): ObjectSchema {
  if (typeof schema === 'object' && schema !== null && 'properties' in schema) {
    const { properties } = schema;
    if (typeof properties === 'object' && properties !== null) {
      return { ...schema, properties: { ...properties } };
    }
  }
  throw new TypeError(`The arguments of the tool "${name}" are no JSON schema of an object.`);
}
