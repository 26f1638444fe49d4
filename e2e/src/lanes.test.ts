import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCallId } from './rig/caller.js';
import { Deployment, quickClocks } from './rig/deployment.js';
import { Repository } from './rig/repository.js';
import { before, overlap, spanOf, stamped } from './rig/stamps.js';

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a', 'b');
  deployment = await Deployment.start(repository, { slots: 2, ...quickClocks });
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

describe('lanes of one checkout', () => {
  it('[L22] run commands of two worktrees at the same time with two slots', async () => {
    const caller = deployment.caller();
    const work = stamped('sleep 1');
    const [a, b] = await Promise.all([caller.run(work, 'a'), caller.run(work, 'b')]);
    expect(overlap(spanOf(a), spanOf(b))).toBe(true);
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
    const [first, second, checkout] = [newCallId(), newCallId(), newCallId()];
    const a = caller.run(stamped('sleep 1'), 'a', { callId: first });
    const b = caller.run(stamped('sleep 1'), 'b', { callId: second });
    await Promise.all([caller.until(first, 'running'), caller.until(second, 'running')]);
    const root = caller.run(stamped('sleep 0.3'), undefined, { callId: checkout });
    await caller.until(checkout, 'waiting');
    const late = deployment.caller('other').run(stamped('true'), 'a');
    const [spanA, spanB, spanRoot, spanLate] = (await Promise.all([a, b, root, late])).map(spanOf);
    if (!spanA || !spanB || !spanRoot || !spanLate) throw new Error('four results');
    expect(before(spanA, spanRoot)).toBe(true);
    expect(before(spanB, spanRoot)).toBe(true);
    expect(before(spanRoot, spanLate)).toBe(true);
  });

  it('[L23] make worktree calls wait for a running checkout command', async () => {
    const caller = deployment.caller();
    const checkout = newCallId();
    const root = caller.run(stamped('sleep 0.5'), undefined, { callId: checkout });
    await caller.until(checkout, 'running');
    const [spanRoot, spanA] = (await Promise.all([root, caller.run(stamped('true'), 'a')])).map(spanOf);
    if (!spanRoot || !spanA) throw new Error('two results');
    expect(before(spanRoot, spanA)).toBe(true);
  });

  it('refuse a call that waited too long: it never ran, and it says what it waited for', async () => {
    const caller = deployment.caller();
    const running = newCallId();
    const blocker = caller.run('sleep 1', 'a', { callId: running });
    await caller.until(running, 'running');
    const refusal = await caller.call(
      { operation: 'execute_command', command: 'touch never', worktree: 'a' },
      { queueWaitMs: 100 },
    );
    expect(refusal.status).toBe(503);
    expect(refusal.headers.get('retry-after')).toBe('1');
    expect(Buffer.byteLength(refusal.text)).toBeLessThanOrEqual(2048);
    expect(refusal.json).toMatchObject({ code: 'WORKSPACE_QUEUE_TIMEOUT' });
    expect(refusal.text).toContain(running);
    await blocker;
    expect((await caller.run('ls never', 'a')).exitCode).not.toBe(0);
  });

  it('keep the place of a call that timed out for its identical retry', async () => {
    const caller = deployment.caller();
    const other = deployment.caller('other');
    const running = newCallId();
    const lane = caller.run(stamped('sleep 1'), 'a', { callId: running });
    await caller.until(running, 'running');
    const root = { operation: 'execute_command', command: stamped('true') };
    expect((await caller.refused(root, { queueWaitMs: 100 })).code).toBe('WORKSPACE_QUEUE_TIMEOUT');
    const rival = newCallId();
    const newer = other.run(stamped('true'), 'b', { callId: rival });
    await other.until(rival, 'waiting');
    const retried = caller.run(root.command);
    const [spanLane, spanNewer, spanRetried] = (await Promise.all([lane, newer, retried])).map(spanOf);
    if (!spanLane || !spanNewer || !spanRetried) throw new Error('three results');
    expect(before(spanLane, spanRetried)).toBe(true);
    expect(before(spanRetried, spanNewer)).toBe(true);
  });
});
