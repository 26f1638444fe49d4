import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BridgesOnRedis } from './testing/bridges-on-redis.js';
import { commandIn, execute } from './testing/requests.js';

const bridges = BridgesOnRedis.prepare();
const toWorker = { headers: { 'x-librechat-code-worker-id': 'worker-1' } };

/** The commands that clients send to Redis while something happens; what scripts do inside is not among them. */
async function sentWhile(work: () => Promise<unknown>): Promise<string[]> {
  return bridges.server.ask(async (client) => {
    const monitor = await client.monitor();
    const sent: string[] = [];
    monitor.on('monitor', (_time: string, [name = '']: readonly string[], source: string) => {
      if (source !== 'lua') sent.push(name.toLowerCase());
    });
    await work();
    await sleep(50);
    monitor.disconnect();
    return sent;
  });
}

it('a call costs one script each to enter, to fetch and to end it, and the call after it none to fetch', async () => {
  const { other, worker } = await bridges.startTwo();
  const batches = worker.batches(20_000);
  /** The next one that is handed over; what is merely expected may be told before it. */
  const nextAssignment = async () => {
    for (;;) {
      const { done, value } = await batches.next();
      if (done === true) throw new Error('the call was expected');
      const [assignment] = value.assignments;
      if (assignment !== undefined) return assignment;
    }
  };
  const oneCall = async (): Promise<void> => {
    const answer = execute(other, commandIn('a'), toWorker);
    await worker.settleCommand(await nextAssignment());
    expect((await answer).status).toBe(200);
  };
  // The bridges come to know the worker, the channel and the scripts.
  await oneCall();
  await oneCall();
  expect(await sentWhile(oneCall)).toEqual(['set', 'evalsha', 'evalsha', 'evalsha']);
  const queued = async (): Promise<void> => {
    const answers = [execute(other, commandIn('a'), toWorker), execute(other, commandIn('a'), toWorker)];
    for (let left = answers.length; left > 0; left -= 1) {
      await worker.settleCommand(await nextAssignment());
    }
    await Promise.all(answers);
  };
  const scripts = (await sentWhile(queued)).filter((name) => name === 'evalsha');
  // Both may be entered as one; the second is fetched with the settlement of the first.
  expect(scripts.length).toBeLessThanOrEqual(5);
});
