import type { Lane } from '@codelanes/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { storesUnderTest } from './testing/stores-under-test.js';
import { ready, setupTimeoutMs, WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const b = ['primary', 'worktree:b'] as const;
const c = ['primary', 'worktree:c'] as const;
const root = ['primary'] as const;

describe.each(storesUnderTest)('the setup of an unready lane at the $name store', ({ make }) => {
  let worker: WorkerAtStore;
  beforeEach(async () => {
    worker = new WorkerAtStore(await make({ queueLength: 6 }));
    await worker.register();
  });

  /** A command that reaches its unready lane: it is answered `busy`, and the setup is there. */
  async function meetsUnready(lane: Lane) {
    const command = await worker.submit(lane);
    await worker.fetch();
    return { command, setup: await worker.unready(lane, command) };
  }

  it('runs before the commands of its lane, under the name of the system, and then they go in their order', async () => {
    const { command, setup } = await meetsUnready(a);
    const second = await worker.submit(a);
    expect((await worker.fetch()).calls).toEqual([setup]);
    expect(worker.assignments.get(setup)).toMatchObject({
      lane: a,
      mode: 'shared',
      pool: 'command',
      executionMs: setupTimeoutMs + 60_000,
      request: { protocolVersion: 1, operation: 'setup', workspaceId: 'primary', worktree: 'a' },
    });
    expect((await worker.store.call(setup))?.principal).toBe('system');
    await worker.report('started', setup);
    await worker.freed();
    expect((await worker.fetch()).calls).toEqual([]);
    await worker.settle(setup, ready);
    expect((await worker.fetch()).calls).toEqual([command]);
    await worker.settle(command);
    expect((await worker.fetch()).calls).toEqual([second]);
  });

  it('comes first also where the lane was announced before its command is known to be refused', async () => {
    const command = await worker.submit(a);
    await worker.fetch();
    const setup = await worker.unready(a);
    expect(await worker.stateOf(setup)).toBe('waiting');
    await worker.report('busy', command);
    expect((await worker.fetch()).calls).toEqual([setup]);
  });

  it('comes before commands that already wait for nothing but a slot', async () => {
    const [inB, inC] = [await worker.run(b), await worker.run(c)];
    const command = await worker.submit(a);
    const elsewhere = await worker.submit(['tools']);
    const setup = await worker.unready(a);
    await worker.settle(inB);
    expect((await worker.fetch()).calls).toEqual([setup]);
    await worker.settle(inC);
    expect((await worker.fetch()).calls).toEqual([elsewhere]);
    await worker.settle(setup, ready);
    expect((await worker.fetch()).calls).toEqual([command]);
  });

  it('overtakes no checkout call that is older than the commands of its lane', async () => {
    const inB = await worker.run(b);
    const checkout = await worker.submit(root);
    const command = await worker.submit(a);
    const setup = await worker.unready(a);
    expect((await worker.fetch()).calls).toEqual([]);
    await worker.settle(inB);
    expect((await worker.fetch()).calls).toEqual([checkout]);
    await worker.settle(checkout);
    expect((await worker.fetch()).calls).toEqual([setup]);
    await worker.settle(setup, ready);
    expect((await worker.fetch()).calls).toEqual([command]);
  });

  it('lets reads of its lane and other lanes go on, and keeps off commands, writes and checkout calls', async () => {
    const { command, setup } = await meetsUnready(a);
    await worker.fetch();
    const read = await worker.submit(a, { pool: 'file', mode: 'shared' });
    const inB = await worker.submit(b);
    expect((await worker.fetch()).calls).toEqual([read, inB]);
    const write = await worker.submit(a, { pool: 'file' });
    const checkout = await worker.submit(root);
    await worker.settle(inB);
    await worker.settle(read);
    expect((await worker.fetch()).calls).toEqual([]);
    await worker.settle(setup, ready);
    const later = await worker.submit(a, { pool: 'file', mode: 'shared' });
    expect((await worker.fetch()).calls).toEqual([command]);
    await worker.settle(command);
    expect((await worker.fetch()).calls).toEqual([write]);
    await worker.settle(write);
    expect((await worker.fetch()).calls).toEqual([checkout]);
    expect(await worker.stateOf(later)).toBe('waiting');
  });

  it('lets a read go on that waited behind a command when that turned out to wait for the setup', async () => {
    const command = await worker.submit(a);
    await worker.fetch();
    const read = await worker.submit(a, { pool: 'file', mode: 'shared' });
    const setup = await worker.unready(a, command);
    expect((await worker.fetch()).calls.toSorted()).toEqual([read, setup].toSorted());
    const second = await worker.submit(a, { pool: 'file', mode: 'shared' });
    const third = await worker.submit(a, { pool: 'file', mode: 'shared', principal: 'bo' });
    const inC = await worker.submit(c, { pool: 'file' });
    expect((await worker.fetch()).calls).toEqual([second]);
    await worker.settle(setup, ready);
    await worker.settle(read);
    await worker.settle(second);
    expect((await worker.fetch()).calls).toEqual([inC, command]);
    expect(await worker.stateOf(third)).toBe('waiting');
  });

  it('needs no second slot where commands of its lane want the only one', async () => {
    await worker.register({ slots: 1 });
    const { command, setup } = await meetsUnready(a);
    const others = [await worker.submit(a), await worker.submit(b)];
    expect((await worker.fetch()).calls).toEqual([setup]);
    await worker.settle(setup, ready);
    for (const next of [command, ...others]) {
      expect((await worker.fetch()).calls).toEqual([next]);
      await worker.settle(next);
    }
  });

  it('takes of the capacity of its repository', async () => {
    const [x, y] = [['p', 'repo:r', 'worktree:x'] as const, ['p', 'repo:r', 'worktree:y'] as const];
    await worker.register({ capacities: [{ lane: ['p', 'repo:r'], commands: 1 }] });
    const { setup } = await meetsUnready(x);
    expect((await worker.fetch()).calls).toEqual([setup]);
    const sibling = await worker.submit(y);
    expect(await worker.store.call(sibling)).toMatchObject({ view: { waiting: { lacking: 'repository' } } });
  });

  it('is not held back by another setup that runs, where somebody else has nothing running', async () => {
    const running = await worker.unready(a);
    const inC = await worker.submit(c);
    expect((await worker.fetch()).calls).toEqual([running, inC]);
    const setup = await worker.unready(b);
    await worker.submit(['tools'], { principal: 'bo' });
    await worker.settle(inC);
    expect((await worker.fetch()).calls).toEqual([setup]);
  });

  it('is entered however full the queue is', async () => {
    await worker.run(root);
    for (let waiting = 0; waiting < 6; waiting += 1) await worker.submit(a);
    await expect(worker.submit(b)).rejects.toThrow('WORKER_QUEUE_FULL');
    expect(await worker.stateOf(await worker.unready(b))).toBe('waiting');
  });

  it('comes before the kept place of a command that gave up, and before its retry', async () => {
    const { command, setup } = await meetsUnready(a);
    await worker.store.withdraw(command, 'deadline');
    await worker.fetch();
    await worker.store.cancel(setup);
    await worker.settle(setup);
    const again = await worker.unready(a);
    const retry = await worker.submit(a);
    expect((await worker.fetch()).calls).toEqual([again]);
    await worker.settle(again, ready);
    expect((await worker.fetch()).calls).toEqual([retry]);
  });

  it('names itself, its age and its bound to whoever waits for it', async () => {
    const { command, setup } = await meetsUnready(a);
    await worker.fetch();
    await worker.report('started', setup);
    worker.clock.advance(1_500);
    const told = { lane: a, operation: 'setup', boundMs: setupTimeoutMs };
    const left = await worker.store.withdraw(command, 'deadline');
    expect(left).toMatchObject({ waitedFor: { blockers: [{ ...told, ageMs: 1_500, state: 'running' }] } });
    expect(left).not.toHaveProperty('waitedFor.blockers.0.callId');
    const checkout = await worker.submit(root, { principal: 'bo' });
    const view = await worker.store.lanes('worker');
    expect(view?.running).toMatchObject([{ ...told, callId: setup, principal: 'system', sinceMs: 1_500 }]);
    expect(view?.waiting).toMatchObject([
      { callId: checkout, waiting: { blockers: [{ callId: setup, ...told }, {}] } },
    ]);
  });
});
