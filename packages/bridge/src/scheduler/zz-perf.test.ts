import { it } from 'vitest';
import { MemoryStore } from './memory-store.js';
import { ManualClock } from './manual-clock.js';
import { SystemClock } from './system-clock.js';
import { defaultSchedulerSettings } from './store.js';
const w = { workerId: 'w', incarnationId: '1'.repeat(32) };
let n = 0;
const lanes = (k: number) => Array.from({ length: k }, (_, i) => ['primary', `worktree:w${i}`] as const);
async function run(
  backlog: number,
  cycles: number,
  ls: readonly (readonly [string, `worktree:${string}`])[],
  mode: 'shared' | 'exclusive',
  principals: number,
) {
  const store = new MemoryStore(defaultSchedulerSettings, new SystemClock());
  await store.register({
    ...w,
    journalId: '2'.repeat(32),
    capabilities: {} as never,
    slots: 2,
    filePool: 16,
    capacities: [],
    holds: [],
    takeOver: false,
  });
  const submit = async () => {
    n += 1;
    const r = await store.submit({
      callId: n.toString(16).padStart(32, '0'),
      workerId: 'w',
      lane: ls[n % ls.length]!,
      mode,
      pool: 'command',
      principal: `p${n % principals}`,
      fingerprint: 'f',
      executionMs: 1,
      request: { operation: 'execute_command', protocolVersion: 1, workspaceId: 'primary', command: 'x' },
    });
    if (!r.ok) throw new Error(r.error.code);
  };
  for (let i = 0; i < backlog - 10; i++) await submit();
  const t = performance.now();
  for (let i = 0; i < cycles; i++) {
    await submit();
    const f = await store.fetch(w);
    if (!f.ok) throw new Error();
    for (const a of f.assignments) {
      await store.report(w, [
        { callId: a.callId, generation: a.generation, token: a.token, state: 'started' },
      ]);
      await store.settle(w, a, { status: 'rejected', error: { code: 'NOT_FOUND', message: 'x' } });
    }
  }
  const per = ((performance.now() - t) / cycles) * 1000;
  await store.close();
  return per;
}
it('perf', async () => {
  for (const [name, k, mode, p] of [
    ['one lane excl', 1, 'exclusive', 1],
    ['one lane excl 50 principals', 1, 'exclusive', 50],
    ['one lane shared 500 principals', 1, 'shared', 500],
    ['8 lanes', 8, 'exclusive', 5],
    ['500 lanes', 500, 'exclusive', 50],
  ] as const) {
    const a: number[] = [],
      b: number[] = [];
    for (let r = 0; r < 5; r++) {
      a.push(await run(12, 3000, lanes(k), mode, p));
      b.push(await run(990, 3000, lanes(k), mode, p));
    }
    a.sort((x, y) => x - y);
    b.sort((x, y) => x - y);
    console.log(name, a[2]!.toFixed(1), b[2]!.toFixed(1), 'us/cycle, ratio', (b[2]! / a[2]!).toFixed(2));
  }
}, 120000);
