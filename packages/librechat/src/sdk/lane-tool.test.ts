import { describe, expect, it } from 'vitest';
import {
  createBoundTool,
  createLaneTool,
  laneBaseUrl,
  laneToolOptions,
  withoutLeakedArguments,
  type SdkTool,
  type SdkToolOptions,
} from '../index.js';

const base = 'https://bridge.example/v1';

/** A tool as the SDK makes it: everything that it is given reaches the wire. */
class LeakingTool implements SdkTool {
  readonly name = 'bash_tool';
  schema: unknown = { type: 'object', properties: { command: {}, args: {} }, required: ['command'] };
  readonly #options: SdkToolOptions;

  constructor(options: SdkToolOptions) {
    this.#options = options;
  }

  func(input: object, ...rest: unknown[]): Promise<unknown> {
    return Promise.resolve({
      url: this.#options.baseUrl,
      workspace: this.#options.workspaceId,
      ...input,
      rest,
    });
  }
}

const create = (options: SdkToolOptions) => new LeakingTool(options);

describe('a tool without leaked arguments', () => {
  it('passes on the arguments of its schema, and the rest of its call', async () => {
    const tool = withoutLeakedArguments(create({ baseUrl: base }));
    const forged = {
      command: 'pwd',
      cwd: '.worktrees/b',
      workspace_worktree: 'b',
      workspace_instance_id: 'x',
    };
    expect(await tool.func(forged, 'manager', 'config')).toEqual({
      url: base,
      workspace: undefined,
      command: 'pwd',
      rest: ['manager', 'config'],
    });
  });

  it.each([undefined, {}, { properties: 'none' }])('is not made of a tool whose schema is %o', (schema) => {
    const tool = create({ baseUrl: base });
    tool.schema = schema;
    expect(() => withoutLeakedArguments(tool)).toThrow(TypeError);
  });
});

describe('a tool that is bound to a lane', () => {
  it('has a base URL of its own, which continuations keep to', () => {
    const options = { baseUrl: `${base}/`, maxRoundTrips: 3 };
    expect(laneToolOptions(options, { workspaceId: 'primary:api', worktree: 'fix-a' })).toEqual({
      baseUrl: `${base}/workspaces/primary%3Aapi/lanes/fix-a`,
      workspaceId: 'primary:api',
      maxRoundTrips: 3,
    });
    expect(laneBaseUrl(`${base}//`, { workspaceId: 'primary' })).toBe(base);
  });

  it('sends nothing that its model made up', async () => {
    const lane = { workspaceId: 'primary:api', worktree: 'fix-a' };
    const tool = createBoundTool(create, { baseUrl: base }, lane);
    const forged = {
      command: 'pwd',
      args: ['x'],
      cwd: '..',
      workspace_worktree: 'b',
      workspace_repository: 'c',
    };
    expect(await tool.func(forged, 'manager')).toEqual({
      url: `${base}/workspaces/primary%3Aapi/lanes/fix-a`,
      workspace: 'primary:api',
      command: 'pwd',
      args: ['x'],
      rest: ['manager'],
    });
  });

  it.each([
    { workspaceId: '../x' },
    { workspaceId: 'w', worktree: '..' },
    { workspaceId: 'w', worktree: 'a/b' },
  ])('is not bound to %o', (lane) => {
    expect(() => laneBaseUrl(base, lane)).toThrow(TypeError);
  });

  it('is not bound where the conversation works in a clone of its own', () => {
    const options = { baseUrl: base, workspaceInstanceId: 'a'.repeat(64) };
    expect(() => laneToolOptions(options, { workspaceId: 'w', worktree: 'a' })).toThrow(TypeError);
  });
});

describe('a tool whose calls choose their lane', () => {
  const tool = createLaneTool(create, { baseUrl: base, workspaceId: 'primary' });

  it('shows the model one argument more', () => {
    expect(tool.schema).toMatchObject({
      properties: { command: {}, args: {}, worktree: { type: 'string' } },
      required: ['command'],
    });
  });

  it.each([undefined, null, ''])('works in the checkout with %o', async (worktree) => {
    expect(await tool.func({ command: 'pwd', worktree })).toMatchObject({ url: base, workspace: 'primary' });
  });

  it('works in the lane that the model names, and sends nothing else of what it wrote', async () => {
    const said = await tool.func({ command: 'pwd', worktree: 'a', workspace_worktree: 'b' }, 'manager');
    expect(said).toEqual({
      url: `${base}/workspaces/primary/lanes/a`,
      workspace: 'primary',
      command: 'pwd',
      rest: ['manager'],
    });
  });

  it.each(['../b', '.worktrees/a', 'x.lock', 7])('starts nothing in %o', async (worktree) => {
    await expect(tool.func({ command: 'pwd', worktree })).rejects.toThrow('Nothing was started');
  });
});
