import { limits, type Settlement } from '@codelanes/protocol';
import { expect, it } from 'vitest';
import { ManualClock } from './manual-clock.js';
import { MemoryStore } from './memory-store.js';
import { keptCharacters } from './memory/kept-results.js';
import { defaultSchedulerSettings } from './scheduler-settings.js';
import { WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;

it('remembers results within the room for them: where many large ones come the oldest are forgotten first', async () => {
  const clock = new ManualClock();
  const worker = new WorkerAtStore({ store: new MemoryStore(defaultSchedulerSettings, clock), clock });
  await worker.register();
  const settlement: Settlement = {
    status: 'fulfilled',
    result: {
      protocolVersion: 1,
      operation: 'read_file',
      workspaceId: 'primary',
      path: 'large',
      content: 'x'.repeat(limits.resultBodyBytes / 2),
      startLine: 1,
      endLine: 1,
      truncated: false,
    },
  };
  const fit = Math.floor((2 * keptCharacters) / limits.resultBodyBytes) - 1;
  const ended: string[] = [];
  const settleOne = async () => {
    const callId = await worker.run(a, { pool: 'file' });
    await worker.settle(callId, settlement);
    ended.push(callId);
  };
  for (let made = 0; made < fit; made += 1) await settleOne();
  const [first = '', second = ''] = ended;
  expect(await worker.store.end(first)).toMatchObject({ how: 'settled' });
  await settleOne();
  expect(await worker.store.end(first)).toBeUndefined();
  expect(await worker.store.end(second)).toMatchObject({ how: 'settled' });
  clock.advance(defaultSchedulerSettings.endRememberedMs);
  for (const callId of ended) expect(await worker.store.end(callId)).toBeUndefined();
});
