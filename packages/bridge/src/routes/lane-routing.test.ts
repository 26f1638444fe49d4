import { lanesViewSchema, type Assignment, type Capabilities } from '@codelanes/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandBody, commandIn, execute, untilQueued, waiting } from '../server/testing/requests.js';
import { pathRouter } from '../server/testing/path-router.js';
import { TestBridge } from '../server/testing/test-bridge.js';
import { testCapabilities, TestWorker } from '../server/testing/test-worker.js';

let bridge: TestBridge;
let worker: TestWorker;

beforeEach(async () => {
  bridge = await TestBridge.start({ laneRouter: pathRouter });
  worker = await TestWorker.registered(bridge, { capabilities: routed() });
});

afterEach(async () => {
  await bridge.close();
});

/** What a worker advertises whose environment asks for routing by path. */
function routed(): Capabilities {
  const capabilities = testCapabilities();
  const { workspaceTools } = capabilities;
  const workspaces = workspaceTools.workspaces.map((each) => ({ ...each, laneRouting: 'by-path' as const }));
  return { ...capabilities, workspaceTools: { ...workspaceTools, workspaces } };
}

const reading = (path: string, fields: object = {}) => ({
  protocolVersion: 1,
  operation: 'read_file',
  workspaceId: 'primary',
  path,
  ...fields,
});

/** As many assignments as that, in however many batches they come. */
async function taken(count: number): Promise<readonly Assignment[]> {
  const assignments: Assignment[] = [];
  while (assignments.length < count) assignments.push(...(await worker.poll()).assignments);
  return assignments;
}

async function settleRead(of: TestWorker, path: string): Promise<void> {
  const assignment = await of.next();
  expect(assignment.request).toMatchObject({ path });
  await of.settle(assignment, {
    status: 'fulfilled',
    result: {
      protocolVersion: 1,
      operation: 'read_file',
      workspaceId: assignment.request.workspaceId,
      path,
      content: 'one',
      startLine: 1,
      endLine: 1,
      truncated: false,
    },
  });
}

describe('calls that name no lane, where the environment routes by path', () => {
  it('get the lane of their cwd, and two of two worktrees run at once', async () => {
    const calls = ['a', 'b'].map((name) => execute(bridge, commandBody({ cwd: `.worktrees/${name}/src` })));
    const assignments = await taken(2);
    expect(assignments.map(({ lane }) => lane).sort()).toEqual([
      ['primary', 'worktree:a'],
      ['primary', 'worktree:b'],
    ]);
    expect(assignments.map(({ request }) => request)).toEqual(
      expect.arrayContaining([expect.objectContaining({ worktree: 'a', cwd: 'src' })]),
    );
    for (const assignment of assignments) await worker.settleCommand(assignment);
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('get results with the paths that they sent, in the alias of a repository too', async () => {
    for (const workspaceId of ['primary', 'primary:app']) {
      const answer = execute(bridge, reading('.worktrees/a/file.txt', { workspaceId }));
      await settleRead(worker, 'file.txt');
      expect(await answer).toMatchObject({
        status: 200,
        json: { workspaceId, path: '.worktrees/a/file.txt', content: 'one' },
      });
    }
  });

  it('are told nothing of the lane: no key that they do not know stands in a result', async () => {
    const answers = [
      execute(bridge, commandBody({ cwd: '.worktrees/a' })),
      execute(bridge, commandBody({ cwd: '.worktrees/b' }), { headers: { 'x-codelanes-client': '1' } }),
    ];
    for (const assignment of await taken(2)) {
      const { workspaceId } = assignment.request;
      const printed = { exitCode: 0, stdout: '', stderr: '', truncated: false, timedOut: false };
      const laneGit = { branch: 'lane/a', head: null };
      await worker.settle(assignment, {
        status: 'fulfilled',
        result: { protocolVersion: 1, operation: 'execute_command', workspaceId, ...printed, laneGit },
      });
    }
    const [shown, own] = await Promise.all(answers);
    expect(shown?.status).toBe(200);
    expect(shown?.json).not.toHaveProperty('laneGit');
    expect(own?.json).toHaveProperty('laneGit');
  });

  it('are shown in their true lane to clients of Codelanes', async () => {
    const answer = execute(bridge, commandBody({ cwd: '.worktrees/a' }));
    const assignment = await worker.next();
    const view = lanesViewSchema.parse(
      (await bridge.send('/v1/bridge/workers/worker-1/lanes', { as: 'admin' })).json,
    );
    expect(view.running.map(({ lane }) => lane)).toEqual([['primary', 'worktree:a']]);
    await worker.settleCommand(assignment);
    await answer;
  });

  it('wait for a call at the root, and it for them', async () => {
    const atRoot = execute(bridge, commandBody({ cwd: 'src' }));
    const first = await worker.next();
    expect(first.lane).toEqual(['primary']);
    const inLane = execute(bridge, commandBody({ cwd: '.worktrees/a' }));
    await untilQueued(bridge, 1);
    expect((await worker.poll(0)).assignments).toEqual([]);
    await worker.settleCommand(first);
    const second = await worker.next();
    expect(second.lane).toEqual(['primary', 'worktree:a']);
    await worker.settleCommand(second);
    expect((await Promise.all([atRoot, inLane])).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('have the place of the routed request kept: one that names the lane is identical to one by path', async () => {
    const running = execute(bridge, commandIn('a'));
    const first = await worker.next();
    const byPath = commandBody({ cwd: '.worktrees/a' });
    expect(await execute(bridge, byPath, { headers: waiting(20) })).toMatchObject({ status: 503 });
    const rival = execute(bridge, commandIn('a', { command: 'false' }));
    await untilQueued(bridge, 1);
    const retried = execute(bridge, commandIn('a'));
    await untilQueued(bridge, 2);
    await worker.settleCommand(first);
    const order: unknown[] = [];
    for (let taken = 0; taken < 2; taken += 1) {
      const next = await worker.next();
      order.push(next.request);
      await worker.settleCommand(next);
    }
    expect(order).toMatchObject([{ command: 'true' }, { command: 'false' }]);
    await Promise.all([running, rival, retried]);
  });

  it.each(['.worktrees/a/../b', '.worktrees/../x', './.worktrees/a', '/.worktrees/a', '.worktrees//a'])(
    'are refused where the path %s could lead elsewhere',
    async (cwd) => {
      expect(await execute(bridge, commandBody({ cwd }))).toMatchObject({
        status: 400,
        json: { code: 'MALFORMED_REQUEST' },
      });
    },
  );

  it('are refused where a path of the result is too long with its prefix', async () => {
    const listing = { protocolVersion: 1, operation: 'list_files', workspaceId: 'primary' };
    const answer = execute(bridge, { ...listing, path: '.worktrees/a' });
    const assignment = await worker.next();
    const paths = [`${'x/'.repeat(2_044)}long`];
    const result = { protocolVersion: 1, operation: 'list_files', workspaceId: 'primary' } as const;
    await worker.settle(assignment, { status: 'fulfilled', result: { ...result, paths, truncated: false } });
    expect(await answer).toMatchObject({ status: 502, json: { code: 'RESULT_INVALID' } });
  });
});

describe('calls that are left as they were sent', () => {
  it('are those that name a lane: their paths are relative to it', async () => {
    const answer = execute(bridge, reading('.worktrees/b/file.txt', { worktree: 'a' }));
    const assignment = await worker.next();
    expect(assignment.lane).toEqual(['primary', 'worktree:a']);
    const error = { code: 'NOT_FOUND' as const, message: 'There is none.' };
    await worker.settle(assignment, { status: 'rejected', error });
    expect((await answer).status).toBe(422);
  });

  it('are all of an environment that does not ask for it, and all where the bridge cannot', async () => {
    const unable = await TestBridge.start();
    const others = [
      await TestWorker.registered(unable, { capabilities: routed() }),
      await TestWorker.registered(bridge, { id: 'worker-2' }),
    ];
    for (const [index, at] of [unable, bridge].entries()) {
      const to = others[index];
      if (to === undefined) throw new Error('two workers');
      const headers = { 'x-librechat-code-worker-id': to.id };
      const answer = execute(at, commandBody({ cwd: '.worktrees/a' }), { headers });
      const assignment = await to.next();
      expect(assignment).toMatchObject({ lane: ['primary'], request: { cwd: '.worktrees/a' } });
      await to.settleCommand(assignment);
      expect((await answer).status).toBe(200);
    }
    await unable.close();
  });
});
