import { expect, it } from 'vitest';
import { luaScripts } from '../scheduler/redis/lua-scripts.generated.js';
import { BridgesOnRedis } from './testing/bridges-on-redis.js';
import { commandIn, execute, untilQueued } from './testing/requests.js';

const bridges = BridgesOnRedis.prepare();
const toWorker = { headers: { 'x-librechat-code-worker-id': 'worker-1' } };
const scriptNames = new Map<string, string>(
  Object.entries(luaScripts).map(([name, { sha1 }]) => [sha1, name]),
);
/** What a call itself asks; the rest goes on by the clock or at a test's request. */
const ofCalls = new Set(['set', 'submit', 'fetch', 'report', 'settle', 'batch', 'withdraw', 'end', 'call']);

/** What the bridges ask of Redis for calls while something happens: scripts by name, other commands by theirs. */
async function askedWhile(work: () => Promise<unknown>): Promise<string[]> {
  return bridges.server.ask(async (client) => {
    const monitor = await client.monitor();
    const asked: string[] = [];
    const overheard = new Promise<void>((resolve) => {
      monitor.on('monitor', (_time: string, [name = '', first = '']: readonly string[], source: string) => {
        const known = scriptNames.get(first) ?? name.toLowerCase();
        if (source !== 'lua' && ofCalls.has(known)) asked.push(known);
        if (first === 'all was said') resolve();
      });
    });
    await work();
    await client.echo('all was said');
    await overheard;
    monitor.disconnect();
    return asked;
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
  expect(await askedWhile(oneCall)).toEqual(['set', 'submit', 'fetch', 'batch']);
  const queued = async (): Promise<void> => {
    const first = execute(other, commandIn('a'), toWorker);
    const running = await nextAssignment();
    const second = execute(other, commandIn('a'), toWorker);
    await untilQueued(other, 1);
    await worker.settleCommand(running);
    await worker.settleCommand(await nextAssignment());
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  };
  // The second is fetched with the settlement of the first.
  const [one, two] = [
    ['set', 'submit', 'fetch', 'batch'],
    ['set', 'submit', 'batch'],
  ] as const;
  expect((await askedWhile(queued)).sort()).toEqual([...one, ...two].sort());
});
