import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Caller, newCallId } from '../rig/caller.js';
import type { LiveBridge } from './bridges.js';
import { violationsOf, type Evidence } from './checker.js';
import type { Run } from './event-log.js';
import { Fleet } from './fleet.js';
import { Load } from './load.js';
import { Random } from './random.js';
import type { Work } from './work.js';

// Processes are started and killed again and again, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

const random = new Random(75);
const pools = { commands: 2, files: 4 };
let fleet: Fleet;

beforeEach(async () => {
  const { commands: slots, files: filePool } = pools;
  fleet = await Fleet.start({ bridges: 2, workers: ['worker-1'], callers: 5, slots, filePool }, random);
});
afterEach(async () => {
  await fleet.stop();
});

/** A caller that comes to that bridge, or to any. */
function callerAt(bridge?: LiveBridge, who = 0): Caller {
  const { callers, admin } = fleet.bridges.tokens;
  const token = callers[who];
  if (token === undefined) throw new Error(`there is no caller ${who}`);
  return new Caller(bridge?.url ?? fleet.entrance.url, token, admin);
}

function bridgeAt(place: number): LiveBridge {
  const bridge = fleet.bridges.live[place];
  if (bridge === undefined) throw new Error(`there is no bridge ${place}`);
  return bridge;
}

function command(seconds: number, worktree?: string) {
  return { operation: 'execute_command', command: `sleep ${seconds}`, ...(worktree && { worktree }) };
}

function runOf(callId: string): Run | undefined {
  return fleet.runs.find((run) => run.callId === callId);
}

async function untilBegun(callId: string): Promise<Run> {
  for (;;) {
    const run = runOf(callId);
    if (run !== undefined) return run;
    await sleep(10);
  }
}

function evidenceOf({ sent, told }: Load): Evidence {
  return { sent, told, runs: fleet.runs, pools, stuckLanes: [], lastingKeys: [] };
}

describe('a bridge that is killed', () => {
  it('leaves nothing in the queue that blocks others for 5 s, while what it had running runs on', async () => {
    const [dying, staying] = [bridgeAt(0), bridgeAt(1)];
    const [runs, checkout, behind] = [newCallId(), newCallId(), newCallId()];
    const ofDying = callerAt(dying).call(command(9, 'a'), { callId: runs });
    await untilBegun(runs);
    const waits = callerAt(dying).call(command(0.01), { callId: checkout });
    await callerAt(staying).until(checkout, 'waiting');
    const blocked = callerAt(staying, 1).call(command(0.01, 'b'), { callId: behind });
    await callerAt(staying, 1).until(behind, 'waiting');
    const cut = Promise.allSettled([ofDying, waits]);
    const killedAt = process.hrtime.bigint();
    await fleet.bridges.kill(dying);
    expect(await blocked).toMatchObject({ status: 200 });
    const { begin } = await untilBegun(behind);
    expect(begin - killedAt).toBeLessThan(5_000_000_000n);
    expect(runOf(runs)).toMatchObject({ end: undefined });
    expect((await cut).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = await callerAt(staying).call(command(0.01, 'a'));
    expect(next).toMatchObject({ status: 200 });
    expect(runOf(runs)).toMatchObject({ isWhole: true });
    expect(runOf(checkout)).toBeUndefined();
  });

  it('again and again under durable requests loses none of them, and none runs twice', async () => {
    const load = new Load(fleet.entrance.url, fleet.bridges.tokens);
    const state = { works: 0, isOver: false };
    const next = (): Work | undefined => {
      if (state.isOver && state.works >= 120) return undefined;
      state.works += 1;
      const lane = { worktree: `lane-${random.between(1, 6)}` };
      const request = random.chance(0.3)
        ? { ...command(random.between(5, 60) / 1000), ...lane }
        : { operation: 'write_file', path: 'file', content: String(random.between(1, 30)), ...lane };
      return durable(request);
    };
    const working = Promise.all(Array.from({ length: 10 }, () => load.stream(next)));
    for (let round = 0; round < 4; round += 1) {
      await sleep(random.between(50, 400));
      await fleet.bridges.kill(random.pick(fleet.bridges.live));
      await fleet.bridges.add();
    }
    state.isOver = true;
    await working;
    expect(violationsOf(evidenceOf(load))).toEqual([]);
    expect(load.told.filter(({ outcome }) => outcome !== 'done')).toEqual([]);
    expect(load.told.length).toBeGreaterThanOrEqual(120);
  });
});

describe('bridges that are replaced one after the other under load', () => {
  it('end what runs, lose no durable request, and have LibreChat repeat what had not begun', async () => {
    const load = new Load(fleet.entrance.url, { ...fleet.bridges.tokens, asLibreChat: true });
    const state = { works: 0, isOver: false };
    const next = (): Work | undefined => {
      if (state.isOver) return undefined;
      state.works += 1;
      const request = {
        ...command(random.between(20, 120) / 1000),
        worktree: `lane-${random.between(1, 4)}`,
      };
      return random.chance(0.3) ? durable(request) : synchronous(request);
    };
    const working = Promise.all(Array.from({ length: 16 }, () => load.stream(next)));
    for (const old of [...fleet.bridges.live]) {
      await sleep(500);
      await fleet.bridges.add();
      await fleet.bridges.drain(old);
    }
    state.isOver = true;
    await working;
    expect(violationsOf(evidenceOf(load))).toEqual([]);
    const others = load.told.filter(({ outcome }) => outcome !== 'done');
    expect(new Set(others.map(({ words }) => words))).toEqual(new Set(['WORKSPACE_QUEUE_TIMEOUT']));
    expect(load.told.filter(({ outcome }) => outcome === 'done')).toHaveLength(state.works);
  });
});

describe('a checkout call', () => {
  it('[L6] [T75] under an endless stream of lane calls of others begins before any that came after it', async () => {
    const order: string[] = [];
    const state = { isOver: false };
    const stream = async (who: number): Promise<void> => {
      while (!state.isOver) {
        const callId = newCallId();
        order.push(callId);
        await callerAt(undefined, who).succeed(command(random.between(10, 60) / 1000, `lane-${who}`), {
          callId,
          headers: { 'x-librechat-code-worker-id': 'worker-1' },
        });
      }
    };
    const streams = Promise.all([1, 2, 3, 4].flatMap((who) => [stream(who), stream(who)]));
    const checkouts: { callId: string; cameBefore: number }[] = [];
    for (let round = 0; round < 5; round += 1) {
      await sleep(100);
      const callId = newCallId();
      const running = callerAt().succeed(command(0.01), { callId });
      await untilWaitingOrBegun(callId);
      checkouts.push({ callId, cameBefore: order.length });
      await running;
    }
    state.isOver = true;
    await streams;
    for (const { callId, cameBefore } of checkouts) {
      const checkout = await untilBegun(callId);
      const later = await Promise.all(order.slice(cameBefore).map(untilBegun));
      expect(later.filter(({ begin }) => begin < checkout.begin)).toEqual([]);
    }
    const sent = new Set([...order, ...checkouts.map(({ callId }) => callId)]);
    const told = [...sent].map((callId) => ({ callId, outcome: 'done' as const, words: 'a result' }));
    const evidence = { sent, told, runs: fleet.runs, pools, stuckLanes: [], lastingKeys: [] };
    expect(violationsOf(evidence)).toEqual([]);
  });
});

describe('a bridge of another version', () => {
  it('refuses to share what the others have stored, and says so', async () => {
    await fleet.bridges.redis.ask('SET', 'codelanes:layout', '0');
    await expect(fleet.bridges.add()).rejects.toThrow(
      /holds layout 0 of Codelanes.*stop the bridges of the other version/,
    );
  });
});

async function untilWaitingOrBegun(callId: string): Promise<void> {
  for (;;) {
    const { status } = await callerAt().send('GET', `/v1/calls/${callId}`);
    if (status === 200) return;
    await sleep(5);
  }
}

/** Work of a caller that has all the time it takes. */
function synchronous(request: Work['request']): Work {
  return {
    workerId: 'worker-1',
    caller: random.between(0, 4),
    isDurable: false,
    queueWaitMs: 60_000,
    request: { protocolVersion: 1, workspaceId: 'primary', ...request },
  };
}

function durable(request: Work['request']): Work {
  return { ...synchronous(request), isDurable: true, isUnnamed: random.chance(0.5) };
}
