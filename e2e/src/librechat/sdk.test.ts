import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RecordingBridge, type Answering, type RecordedReply } from './recording-bridge.js';
import { sdkFolder } from './sdk-folder.js';
import { Sdk } from './sdk.js';
import type { SdkCall, SdkOutcome } from './sdk-call.js';

let sdk: Sdk;
let bridge: RecordingBridge;

/** Where nothing is kept from an earlier run, 250 packages are fetched. */
beforeAll(async () => {
  sdk = new Sdk(await sdkFolder());
}, 300_000);
afterAll(() => sdk.stop());
afterEach(() => bridge.stop());

const completed = (stdout: string, stderr = ''): RecordedReply => ({
  status: 200,
  body: { status: 'completed', session_id: 's1', stdout, stderr, files: [] },
});

async function call(
  answer: Answering | RecordedReply,
  { options = {}, ...rest }: Omit<Partial<SdkCall>, 'options'> & { readonly options?: object },
): Promise<SdkOutcome> {
  bridge = await RecordingBridge.start(typeof answer === 'function' ? answer : () => answer);
  return sdk.call({
    tool: 'bash',
    args: { command: 'pwd' },
    options: {
      baseUrl: `${bridge.url}/v1`,
      workspaceId: 'primary',
      authHeaders: {
        Authorization: 'Bearer JWT',
        'X-CodeAPI-Expected-Profile': 'stateful',
        'X-LibreChat-Code-Worker-ID': 'w1',
      },
      ...options,
    },
    ...rest,
  });
}

describe('the bash tool of the SDK in a workspace', () => {
  it('sends this, and the model reads that', async () => {
    const args = { command: 'pwd && ls', args: ['a b', "c'd"] };
    const outcome = await call(completed('/home\n', 'careful\n'), { args });
    expect(bridge.requests).toMatchSnapshot('sent');
    expect(outcome).toMatchSnapshot('read');
  });

  it('sends what the model made up, unless the tool is made without leaks', async () => {
    const args = {
      command: 'pwd',
      cwd: '.worktrees/b',
      workspace_worktree: 'b',
      workspace_repository: 'api',
    };
    await call(completed(''), { args });
    expect(bridge.requests.map(({ body }) => body)).toMatchSnapshot('leaked');
    await bridge.stop();
    await call(completed(''), { args, make: 'choosing', lane: { workspaceId: 'primary' } });
    expect(bridge.requests.map(({ body }) => body)).toMatchSnapshot('kept back');
  });

  it('is in a lane by its base URL', async () => {
    await call(completed('x'), { make: 'bound', lane: { workspaceId: 'primary:api', worktree: 'fix-a' } });
    expect(bridge.requests).toMatchSnapshot();
  });

  it('that is bound to a lane sends nothing that the model made up', async () => {
    const args = { command: 'pwd', cwd: 'elsewhere', workspace_worktree: 'b' };
    await call(completed('x'), { make: 'bound', args, lane: { workspaceId: 'primary', worktree: 'a' } });
    const bodyOf = () => JSON.stringify(bridge.requests.map(({ body }) => body));
    expect(bodyOf()).toContain('elsewhere');
    await bridge.stop();
    await call(completed('x'), { make: 'kept', args, lane: { workspaceId: 'primary', worktree: 'a' } });
    expect(bridge.requests).toMatchObject([{ path: '/v1/workspaces/primary/lanes/a/exec/programmatic' }]);
    expect(bodyOf()).not.toMatch(/elsewhere|workspace_worktree/);
  });

  it('is in the lane that the model names', async () => {
    const args = { command: 'pwd', worktree: 'fix-a' };
    await call(completed('x'), { args, make: 'choosing', lane: { workspaceId: 'primary' } });
    expect(bridge.requests).toMatchSnapshot();
  });

  it('refuses a name that is none before anything is sent', async () => {
    const args = { command: 'pwd', worktree: '../b' };
    const outcome = await call(completed('x'), { args, make: 'choosing', lane: { workspaceId: 'primary' } });
    expect(outcome).toHaveProperty('error');
    expect(JSON.stringify(outcome)).toContain('Nothing was started');
    expect(bridge.requests).toEqual([]);
  });

  it.each<[string, RecordedReply]>([
    ['wrote nothing', completed('')],
    ['failed, told by a last line', completed('some\n[exit code: 3]\n')],
    [
      'failed, told by the status',
      { status: 200, body: { status: 'error', error: 'x', stdout: 'lost', stderr: 'e' } },
    ],
    ['may not run again', { status: 409, body: { code: 'bridge_worker_mismatch', error: 'x' } }],
    ['met a closed lane', { status: 409, body: { code: 'WORKSPACE_QUARANTINED', error: 'x' } }],
    ['waited too long', { status: 503, body: { code: 'WORKSPACE_QUEUE_TIMEOUT', error: 'x' } }],
    ['was one too many', { status: 429, body: { error: 'rate_limited', retry_after_seconds: 7 } }],
    ['was malformed', { status: 400, body: { code: 'MALFORMED_REQUEST', error: 'x' } }],
    ['was not allowed', { status: 403, body: { code: 'FORBIDDEN', error: 'x' } }],
  ])('tells the model of a call that %s', async (_, reply) => {
    expect(await call(reply, {})).toMatchSnapshot();
    expect(bridge.requests).toHaveLength(1);
  });

  it('asks for a call to be cancelled where its host aborts it', async () => {
    let abort: () => void = () => undefined;
    bridge = await RecordingBridge.start(({ path }) => {
      if (path.endsWith('/cancel')) return { status: 202, body: { status: 'cancellation_requested' } };
      abort();
      return new Promise(() => undefined);
    });
    const running = sdk.begin({
      tool: 'bash',
      args: { command: 'sleep 100' },
      options: {
        baseUrl: `${bridge.url}/v1`,
        workspaceId: 'primary',
        authHeaders: { Authorization: 'Bearer JWT' },
      },
      abortable: true,
    });
    abort = running.abort;
    expect(await running.outcome).toMatchSnapshot('read');
    await expect.poll(() => bridge.requests.length).toBe(2);
    const [run, cancel] = bridge.requests;
    const id = run?.headers['x-librechat-code-request-id'] ?? '';
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(cancel?.body).toEqual({ request_id: id });
    expect(JSON.parse(JSON.stringify(bridge.requests).replaceAll(id, '<id>'))).toMatchSnapshot('sent');
  });
});

describe('the programmatic tool of the SDK in a workspace', () => {
  const code = 'x=$(web_search \'{"q":"SF"}\'); echo "$x"; boom \'{}\'';
  const answer: Answering = ({ body }) =>
    JSON.stringify(body).includes('continuation_token')
      ? completed('{"hits":["SF"]}\n')
      : {
          status: 200,
          body: {
            status: 'tool_call_required',
            session_id: 's1',
            continuation_token: 'tok_1',
            tool_calls: [
              { id: 'call_001', name: 'web-search', input: { q: 'SF' } },
              { id: 'call_002', name: 'boom', input: {} },
            ],
            partial_stdout: '',
          },
        };

  it.each(['plain', 'bound'] as const)('sends this and goes on in the same place, made %s', async (make) => {
    const lane = { workspaceId: 'primary', worktree: 'fix-a' };
    const args = { code, cwd: '.worktrees/b', workspace_worktree: 'b' };
    const outcome = await call(answer, { tool: 'programmatic', args, make, lane });
    expect(bridge.requests).toMatchSnapshot('sent');
    expect(outcome).toMatchSnapshot('read');
  });
});
