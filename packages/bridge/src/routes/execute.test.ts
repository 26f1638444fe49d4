import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandBody, commandIn, execute, untilQueued, waiting } from '../server/testing/requests.js';
import { randomId, TestBridge } from '../server/testing/test-bridge.js';
import { testCapabilities, TestWorker } from '../server/testing/test-worker.js';

let bridge: TestBridge;
let worker: TestWorker;

beforeEach(async () => {
  bridge = await TestBridge.start();
  worker = await TestWorker.registered(bridge);
});

afterEach(async () => {
  await bridge.close();
});

describe('a call that the worker answers', () => {
  it('gets the result of the worker and the id of the call', async () => {
    const answer = execute(bridge, commandBody());
    const assignment = await worker.next();
    await worker.settleCommand(assignment, 'hello');
    const { status, json, headers } = await answer;
    expect(status).toBe(200);
    expect(json).toMatchObject({ operation: 'execute_command', stdout: 'hello', exitCode: 0 });
    expect(headers['x-codelanes-call-id']).toBe(assignment.callId);
  });

  it('[T78] is no dead end where its worker is slow: it never ran, and runs in the same lane when sent again', async () => {
    const impatient = await execute(bridge, commandIn('a'), { headers: waiting(20) });
    expect(impatient).toMatchObject({ status: 503, json: { code: 'WORKSPACE_QUEUE_TIMEOUT' } });
    const retried = execute(bridge, commandIn('a'));
    const assignment = await worker.next();
    expect(assignment.lane).toEqual(['primary', 'worktree:a']);
    await worker.settleCommand(assignment, 'late but once');
    expect((await retried).json['stdout']).toBe('late but once');
    expect((await worker.poll(0)).assignments).toEqual([]);
  });

  it('has the id that its caller proposed, and no second call may have it', async () => {
    const callId = randomId();
    const headers = { 'x-codelanes-call-id': callId };
    const answer = execute(bridge, commandBody(), { headers });
    const assignment = await worker.next();
    expect(assignment.callId).toBe(callId);
    const second = await execute(bridge, commandBody(), { headers });
    expect(second).toMatchObject({ status: 409, json: { code: 'CALL_ID_TAKEN' } });
    await worker.settleCommand(assignment);
    expect((await answer).status).toBe(200);
  });

  it('carries the lane, mode, pool and budget of its operation to the worker', async () => {
    const command = execute(bridge, commandIn('a', { timeoutMs: 7_000 }));
    const inA = await worker.next();
    expect(inA).toMatchObject({
      lane: ['primary', 'worktree:a'],
      mode: 'exclusive',
      pool: 'command',
      executionMs: 7_000,
    });
    const path = 'README.md';
    const read = execute(bridge, {
      protocolVersion: 1,
      operation: 'read_file',
      workspaceId: 'primary',
      path,
    });
    await untilQueued(bridge, 1);
    await worker.settleCommand(inA);
    const inCheckout = await worker.next();
    expect(inCheckout).toMatchObject({
      lane: ['primary'],
      mode: 'shared',
      pool: 'file',
      executionMs: 30_000,
    });
    const error = { code: 'NOT_FOUND' as const, message: 'There is none.' };
    await worker.settle(inCheckout, { status: 'rejected', error });
    expect((await Promise.all([command, read])).map(({ status }) => status)).toEqual([200, 422]);
  });

  it('reads instructions by digest without a lane: a running checkout command does not delay it', async () => {
    const command = execute(bridge, commandBody());
    const running = await worker.next();
    const read = execute(bridge, {
      protocolVersion: 1,
      operation: 'read_file',
      workspaceId: 'primary',
      path: 'AGENTS.md',
      instructionSha256: 'a'.repeat(64),
    });
    const instruction = await worker.next();
    expect(instruction.pool).toBe('none');
    const error = { code: 'NOT_FOUND' as const, message: 'There is none.' };
    await worker.settle(instruction, { status: 'rejected', error });
    expect((await read).status).toBe(422);
    await worker.settleCommand(running);
    await command;
  });
});

describe('lanes', () => {
  it('[L5] [L6] run side by side, and the checkout waits for them and is not overtaken', async () => {
    const a = execute(bridge, commandIn('a'));
    const inA = await worker.next();
    const b = execute(bridge, commandIn('b'));
    const inB = await worker.next();
    const checkout = execute(bridge, commandBody({ command: 'make' }));
    await untilQueued(bridge, 1);
    const late = execute(bridge, commandIn('c'));
    await untilQueued(bridge, 2);
    await worker.settleCommand(inA);
    expect((await worker.poll(0)).assignments).toEqual([]);
    await worker.settleCommand(inB);
    const inCheckout = await worker.next();
    expect(inCheckout.lane).toEqual(['primary']);
    await worker.settleCommand(inCheckout);
    const inC = await worker.next();
    expect(inC.lane).toEqual(['primary', 'worktree:c']);
    await worker.settleCommand(inC);
    const answers = await Promise.all([a, b, checkout, late]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});

describe('the gate', () => {
  it.each([
    ['a workspace', commandBody({ workspaceId: 'other' }), 'it offers "primary"'],
    ['an instance', commandBody({ workspaceInstanceId: 'f'.repeat(64) }), 'conversation instances'],
    ['an action', commandBody({ environmentAction: { name: 'x', fingerprint: 'f'.repeat(64) } }), 'actions'],
  ])('refuses %s that the worker did not advertise, before anything is queued', async (_what, body, said) => {
    const answer = await execute(bridge, body);
    expect(answer).toMatchObject({ status: 409, json: { code: 'WORKER_MISMATCH' } });
    expect(answer.json['error']).toContain(said);
    expect((await worker.poll(0)).assignments).toEqual([]);
  });

  it.each(['worktree', 'repository'])(
    '[L3] [L27] refuses the field %s at a worker without lanes, and serves calls without it as before',
    async (field) => {
      const { workspaceTools, ...capabilities } = testCapabilities();
      const laneless = {
        ...capabilities,
        workspaceTools: { ...workspaceTools, workspaces: [{ id: 'primary' }] },
      };
      await worker.register({ capabilities: laneless, takeOver: true });
      const refused = await execute(bridge, commandBody({ [field]: 'a' }));
      expect(refused).toMatchObject({ status: 409, json: { code: 'WORKER_MISMATCH' } });
      const served = execute(bridge, commandBody());
      await worker.settleCommand(await worker.next());
      expect((await served).status).toBe(200);
    },
  );
});

describe('the workspace that is the other name of a repository', () => {
  it('[M6] is its lane before admission, and the worker is told the name that was sent', async () => {
    const byField = execute(bridge, commandIn('a', { repository: 'app' }));
    const first = await worker.next();
    const byName = execute(bridge, commandIn('a', { workspaceId: 'primary:app' }));
    await untilQueued(bridge, 1);
    expect((await worker.poll(0)).assignments).toEqual([]);
    await worker.settleCommand(first);
    const second = await worker.next();
    expect(second.lane).toEqual(['primary', 'repo:app', 'worktree:a']);
    expect(second.lane).toEqual(first.lane);
    expect(second.request).toMatchObject({ workspaceId: 'primary:app', worktree: 'a' });
    await worker.settleCommand(second);
    expect((await byField).status).toBe(200);
    expect((await byName).json).toMatchObject({ workspaceId: 'primary:app' });
  });

  it.each([
    ['beside the field', { workspaceId: 'primary:app', repository: 'app' }, 'send the one or the other'],
    ['a repository that is not declared', { repository: 'apps' }, 'it has "app"'],
  ])('is refused %s, before anything is queued', async (_what, fields, said) => {
    const answer = await execute(bridge, commandBody(fields));
    expect(answer).toMatchObject({ status: 409, json: { code: 'WORKER_MISMATCH' } });
    expect(answer.json['error']).toContain(said);
    expect((await worker.poll(0)).assignments).toEqual([]);
  });
});

describe('the worker of a call', () => {
  it('need not be named while there is only one, and must be where there are more', async () => {
    const other = await TestWorker.registered(bridge, { id: 'worker-2' });
    const unnamed = await execute(bridge, commandBody());
    expect(unnamed).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    expect(unnamed.json['error']).toContain('x-librechat-code-worker-id');
    const named = execute(bridge, commandBody(), { headers: { 'x-librechat-code-worker-id': 'worker-2' } });
    await other.settleCommand(await other.next());
    expect((await named).status).toBe(200);
  });

  it('is offline where it never registered', async () => {
    const headers = { 'x-librechat-code-worker-id': 'nobody' };
    const answer = await execute(bridge, commandBody(), { headers });
    expect(answer).toMatchObject({ status: 503, json: { code: 'WORKER_OFFLINE' } });
  });
});
