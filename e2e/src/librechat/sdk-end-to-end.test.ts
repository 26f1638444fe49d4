import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetch } from 'undici';
import { Deployment, steadyClocks } from '../rig/deployment.js';
import { Repository } from '../rig/repository.js';
import { before, overlap, spanOf, stamped } from '../rig/stamps.js';
import { RecordingBridge, type RecordedReply, type RecordedRequest } from './recording-bridge.js';
import { sdkFolder } from './sdk-folder.js';
import { SigningKey } from './signing-key.js';
import { Sdk } from './sdk.js';
import type { SdkCall, SdkOutcome } from './sdk-call.js';

let sdk: Sdk;
let repository: Repository;
let deployment: Deployment;
let key: SigningKey;
/** Stands before the real bridge, and keeps what passes. */
let passing: RecordingBridge;
/** The status of each reply that it passed on, in order. */
const passed: { readonly path: string; readonly status: number }[] = [];

/** Where nothing is kept from an earlier run, 250 packages are fetched. */
beforeAll(async () => {
  sdk = new Sdk(await sdkFolder());
  repository = Repository.create('a', 'b');
  key = new SigningKey(repository.folder);
  const bridge = { ...steadyClocks.bridge, jwt: { keys: { file: key.file } } };
  deployment = await Deployment.start(repository, { slots: 2, ...steadyClocks, bridge });
  passing = await RecordingBridge.start(toBridge);
}, 300_000);
afterAll(async () => {
  await passing.stop();
  await deployment.stop();
  repository.remove();
  await sdk.stop();
});

async function toBridge({ method, path, headers, body }: RecordedRequest): Promise<RecordedReply> {
  const reply = await fetch(`${deployment.url}${path}`, { method, headers, body: JSON.stringify(body) });
  passed.push({ path, status: reply.status });
  return { status: reply.status, body: await reply.text() };
}

const callOf = (call: Partial<SdkCall>, baseUrl = `${passing.url}/v1`): SdkCall => ({
  tool: 'bash',
  args: {},
  ...call,
  options: {
    baseUrl,
    workspaceId: 'primary',
    authHeaders: {
      Authorization: `Bearer ${key.token()}`,
      'X-CodeAPI-Expected-Profile': 'stateful',
      'X-LibreChat-Code-Worker-ID': 'w1',
    },
    // The bash tool would copy it into what it sends.
    ...(call.tool === 'programmatic' ? { runTimeoutMs: 60_000 } : {}),
    ...call.options,
  },
});

/** What the model reads, and what passed, with the same names in every run for what is random. */
async function seen(call: Partial<SdkCall>): Promise<unknown> {
  passing.requests.length = 0;
  const outcome = await sdk.call(callOf(call));
  const text = JSON.stringify({ outcome, sent: passing.requests.map(({ path, body }) => ({ path, body })) });
  const known: unknown = JSON.parse(
    text.replaceAll(/[0-9a-f]{32}\.[\w-]{43}/gu, '<token>').replaceAll(/[0-9a-f]{32}/gu, '<call>'),
  );
  return known;
}

function read(outcome: SdkOutcome): string {
  if ('error' in outcome) throw new Error(outcome.error);
  return outcome.content;
}

describe('the unmodified SDK of LibreChat, through a real bridge and worker,', () => {
  it('runs bash in the workspace', async () => {
    const args = { command: 'echo "$1"; cat file.txt; echo careful >&2', args: ["it's"] };
    expect(await seen({ args })).toMatchSnapshot();
  });

  it('shows the model the output of a command that failed, and how it did', async () => {
    expect(await seen({ args: { command: 'echo some; exit 3' } })).toMatchSnapshot();
  });

  it('is in a lane by its base URL, whatever the model made up', async () => {
    const lane = { workspaceId: 'primary', worktree: 'a' };
    const args = { command: 'git rev-parse --abbrev-ref HEAD', cwd: 'elsewhere' };
    expect(await seen({ args, make: 'bound', lane })).toMatchSnapshot();
  });

  it('is refused another lane than its own, which a model made up', async () => {
    const lane = { workspaceId: 'primary', worktree: 'a' };
    const args = { command: 'touch made-up.txt', workspace_worktree: 'b' };
    expect(await seen({ args, make: 'bound', lane })).toMatchSnapshot();
    expect(existsSync(repository.path('made-up.txt', 'b'))).toBe(false);
  });

  it('tells the model not to try again where a workspace is none', async () => {
    expect(
      await seen({
        args: { command: 'true' },
        options: { baseUrl: `${passing.url}/v1`, workspaceId: 'none' },
      }),
    ).toMatchSnapshot();
  });

  it.each(['plain', 'bound'] as const)('calls tools from a script, once each, made %s', async (make) => {
    const lane = { workspaceId: 'primary', worktree: 'a' };
    const code = [
      `echo begin >> ${make}.txt`,
      'x=$(web_search \'{"q":"SF"}\'); echo "$x"',
      `echo between >> ${make}.txt`,
      'boom "{}" || echo "boom failed"',
      `echo end >> ${make}.txt`,
    ].join('\n');
    expect(await seen({ tool: 'programmatic', args: { code }, make, lane })).toMatchSnapshot();
    const file = make === 'plain' ? repository.path('plain.txt') : repository.path('bound.txt', 'a');
    expect(readFileSync(file, 'utf8')).toBe('begin\nbetween\nend\n');
  });

  it('works in two lanes at once, and in one of them one call after the other', async () => {
    const command = stamped('touch begun; until [ -e both ]; do sleep 0.05; done');
    const inLane = async (worktree: string) => {
      const lane = { workspaceId: 'primary', worktree };
      const outcome = await sdk.call(callOf({ args: { command }, make: 'bound', lane }));
      return spanOf({ stdout: read(outcome) });
    };
    const calls = Promise.all([inLane('a'), inLane('b'), inLane('a')]);
    for (const name of ['a', 'b']) {
      await expect.poll(() => existsSync(repository.path('begun', name))).toBe(true);
    }
    for (const name of ['a', 'b']) writeFileSync(repository.path('both', name), '');
    const [a, b, again] = await calls;
    expect(overlap(a, b) || overlap(again, b)).toBe(true);
    expect(before(a, again) || before(again, a)).toBe(true);
  });

  it.each(['bash', 'programmatic'] as const)('stops %s that its host aborts, by its cancel', async (tool) => {
    const code = `touch ${tool}-begun; sleep 100; touch ${tool}-ended`;
    const args = tool === 'bash' ? { command: code } : { code: `${code}; web_search "{}"` };
    const lane = { workspaceId: 'primary', worktree: 'b' };
    passing.requests.length = 0;
    const call = callOf({ tool, args, make: 'bound', lane, abortable: true });
    const running = sdk.begin(call);
    await expect.poll(() => existsSync(repository.path(`${tool}-begun`, 'b'))).toBe(true);
    running.abort();
    expect(await running.outcome).toHaveProperty('error');
    // What stands between keeps its own connection to the bridge: nothing but the cancel can have stopped it.
    const path = '/v1/workspaces/primary/lanes/b/exec/programmatic/cancel';
    await expect.poll(() => passed.filter((reply) => reply.path === path).at(-1)?.status).toBe(202);
    const [begun, cancel] = passing.requests;
    const id = begun?.headers['x-librechat-code-request-id'];
    expect(cancel).toMatchObject({ path, body: { request_id: id } });
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    passed.length = 0;
    await deployment.caller().run('true', 'b');
    expect(existsSync(repository.path(`${tool}-ended`, 'b'))).toBe(false);
  });
});
