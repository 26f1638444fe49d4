import { existsSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCallId } from './rig/caller.js';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';
import { before, overlap, spanOf, stamped } from './rig/stamps.js';

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a', 'b');
  deployment = await Deployment.start(repository, {
    slots: 2,
    bridge: { scheduler: { placeKeptMs: 60_000 } },
  });
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

/** Runs until it is let go on. */
const untilGo = stamped('touch begun; until [ -e go ]; do sleep 0.02; done; rm go begun');
const letGo = (worktree?: string) => {
  writeFileSync(repository.path('go', worktree), '');
};
/** A call that counts as running may not have begun yet. */
const begun = (worktree?: string) =>
  expect.poll(() => existsSync(repository.path('begun', worktree))).toBe(true);

describe('lanes of one checkout', () => {
  it('[L22] run commands of two worktrees at the same time with two slots', async () => {
    const caller = deployment.caller();
    const calls = [caller.run(untilGo, 'a'), caller.run(untilGo, 'b')];
    await Promise.all([begun('a'), begun('b')]);
    letGo('a');
    letGo('b');
    const [spanA, spanB] = (await Promise.all(calls)).map(spanOf);
    if (!spanA || !spanB) throw new Error('two results');
    expect(overlap(spanA, spanB)).toBe(true);
  });

  it('[L5] run commands of one worktree one after the other', async () => {
    const caller = deployment.caller();
    const work = stamped('sleep 0.3');
    const [one, other] = (await Promise.all([caller.run(work, 'a'), caller.run(work, 'a')])).map(spanOf);
    if (one === undefined || other === undefined) throw new Error('two results');
    expect(overlap(one, other)).toBe(false);
  });

  it('[L6] [L23] [T75] make a checkout command wait for both, and newer worktree calls wait for it', async () => {
    const caller = deployment.caller();
    const other = deployment.caller('other');
    const [checkout, late] = [newCallId(), newCallId()];
    const both = [caller.run(untilGo, 'a'), caller.run(untilGo, 'b')];
    await Promise.all([begun('a'), begun('b')]);
    const root = caller.run(untilGo, undefined, { callId: checkout });
    await caller.until(checkout, 'waiting');
    const newer = other.run(stamped('true'), 'a', { callId: late });
    await other.until(late, 'waiting');
    letGo('a');
    letGo('b');
    await begun();
    letGo();
    const [spanA, spanB, spanRoot, spanLate] = (await Promise.all([...both, root, newer])).map(spanOf);
    if (!spanA || !spanB || !spanRoot || !spanLate) throw new Error('four results');
    expect(before(spanA, spanRoot)).toBe(true);
    expect(before(spanB, spanRoot)).toBe(true);
    expect(before(spanRoot, spanLate)).toBe(true);
  });

  it('[L23] make worktree calls wait for a running checkout command', async () => {
    const caller = deployment.caller();
    const late = newCallId();
    const root = caller.run(untilGo);
    await begun();
    const inA = caller.run(stamped('true'), 'a', { callId: late });
    await caller.until(late, 'waiting');
    letGo();
    const [spanRoot, spanA] = (await Promise.all([root, inA])).map(spanOf);
    if (!spanRoot || !spanA) throw new Error('two results');
    expect(before(spanRoot, spanA)).toBe(true);
  });

  it('keep the place of a call that timed out for its identical retry', async () => {
    const caller = deployment.caller();
    const other = deployment.caller('other');
    const lane = caller.run(untilGo, 'a');
    await begun('a');
    const root = { operation: 'execute_command', command: stamped('true'), timeoutMs: 60_000 };
    expect((await caller.refused(root, { queueWaitMs: 100 })).code).toBe('WORKSPACE_QUEUE_TIMEOUT');
    const [rival, again] = [newCallId(), newCallId()];
    const newer = other.run(stamped('true'), 'b', { callId: rival });
    await other.until(rival, 'waiting');
    const retried = caller.run(root.command, undefined, {
      callId: again,
      more: { timeoutMs: root.timeoutMs },
    });
    await caller.until(again, 'waiting');
    letGo('a');
    const [spanLane, spanNewer, spanRetried] = (await Promise.all([lane, newer, retried])).map(spanOf);
    if (!spanLane || !spanNewer || !spanRetried) throw new Error('three results');
    expect(before(spanLane, spanRetried)).toBe(true);
    expect(before(spanRetried, spanNewer)).toBe(true);
  });

  // The last one: the lane waits for the refused call, whose place is kept.
  it('refuse a call that waited too long: it never ran, and it says what it waited for', async () => {
    const caller = deployment.caller();
    const running = newCallId();
    const blocker = caller.run(untilGo, 'a', { callId: running });
    await begun('a');
    const refusal = await caller.call(
      { operation: 'execute_command', command: 'touch never', worktree: 'a' },
      { queueWaitMs: 100 },
    );
    expect(refusal.status).toBe(503);
    expect(refusal.headers.get('retry-after')).toBe('1');
    expect(Buffer.byteLength(refusal.text)).toBeLessThanOrEqual(2048);
    expect(refusal.json).toMatchObject({ code: 'WORKSPACE_QUEUE_TIMEOUT' });
    expect(refusal.text).toContain(running);
    letGo('a');
    await blocker;
    expect(existsSync(repository.path('never', 'a'))).toBe(false);
  });
});
