import { callViewSchema, lanesViewSchema } from '@codelanes/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { storesUnderTest } from './testing/stores-under-test.js';
import { WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const root = ['primary'] as const;

describe.each(storesUnderTest)('why a call waits at the $name store', ({ make }) => {
  let worker: WorkerAtStore;
  beforeEach(async () => {
    worker = new WorkerAtStore(await make());
    await worker.register();
  });

  async function reasonOf(callId: string) {
    return (await worker.store.call(callId))?.view.waiting;
  }

  it('[T79] names its own running and waiting rivals, with their ages', async () => {
    const runs = await worker.run(a);
    worker.clock.advance(1_500);
    const waits = await worker.submit(root);
    worker.clock.advance(500);
    const callId = await worker.submit(a);
    expect(await reasonOf(callId)).toEqual({
      blockers: [
        { lane: a, ageMs: 2_000, state: 'running', callId: runs, operation: 'execute_command' },
        { lane: root, ageMs: 500, state: 'waiting', callId: waits, operation: 'execute_command' },
      ],
      position: 2,
    });
  });

  it('tells of other principals only lane and age, an administrator everything', async () => {
    const runs = await worker.run(a, { principal: 'bo' });
    const callId = await worker.submit(root);
    expect((await reasonOf(callId))?.blockers).toEqual([{ lane: a, ageMs: 0, state: 'running' }]);
    const view = lanesViewSchema.parse(await worker.store.lanes('worker'));
    expect(view.waiting[0]?.waiting.blockers[0]).toMatchObject({ callId: runs });
    expect(view.running).toMatchObject([{ callId: runs, principal: 'bo', state: 'running' }]);
  });

  it('says which room is missing where nothing conflicts', async () => {
    const room = { slots: 2, filePool: 1, capacities: [{ lane: ['other', 'repo:x'], commands: 1 }] };
    await worker.register(room);
    await worker.run(['tools'], { pool: 'file' });
    await worker.run(['other', 'repo:x', 'worktree:a']);
    const file = await worker.submit(a, { pool: 'file' });
    const capped = await worker.submit(['other', 'repo:x', 'worktree:b']);
    expect(await reasonOf(file)).toEqual({ blockers: [], lacking: 'files', position: 1 });
    expect(await reasonOf(capped)).toEqual({ blockers: [], lacking: 'repository', position: 2 });
    await worker.register({ ...room, slots: 1 });
    expect(await reasonOf(capped)).toEqual({ blockers: [], lacking: 'slots', position: 2 });
  });

  it('names at most five of many, and still knows the place', async () => {
    await worker.run(root);
    for (let rival = 0; rival < 8; rival += 1) await worker.submit(root);
    const callId = await worker.submit(a);
    const reason = await reasonOf(callId);
    expect(reason?.blockers).toHaveLength(5);
    expect(reason?.position).toBe(9);
  });

  it('says with a withdrawal what the call waited for, and for how long', async () => {
    const runs = await worker.run(a);
    const callId = await worker.submit(root);
    worker.clock.advance(700);
    expect(await worker.store.withdraw(callId, 'deadline')).toMatchObject({
      withdrawn: true,
      waitedMs: 700,
      waitedFor: { blockers: [{ callId: runs, ageMs: 700 }] },
    });
  });

  it('speaks the schemas of the wire', async () => {
    await worker.run(a, { principal: 'bo' });
    const callId = await worker.submit(root);
    const owned = await worker.store.call(callId);
    expect(callViewSchema.parse(owned?.view)).toEqual(owned?.view);
    expect(owned?.principal).toBe('ann');
    const lanes = await worker.store.lanes('worker');
    expect(lanesViewSchema.parse(lanes)).toEqual(lanes);
    expect(await worker.store.lanes('nobody')).toBeUndefined();
  });
});
