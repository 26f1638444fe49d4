import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { laneKey, laneOf } from '@codelanes/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProcessIdentity } from './processes.js';
import { Quarantine } from './quarantine.js';

let folder: string;
let opened: Quarantine[];
const alive = new Set<number>();
const processes = { isGone: ({ pid }: ProcessIdentity): boolean => !alive.has(pid) };
const root = laneOf({ workspaceId: 'primary' });
const a = laneOf({ workspaceId: 'primary', worktree: 'a' });
const b = laneOf({ workspaceId: 'primary', worktree: 'b' });

function running(pid: number): ProcessIdentity {
  alive.add(pid);
  return { pid, startTime: 1, bootId: 'boot' };
}

async function open(): Promise<Quarantine> {
  for (const one of opened.splice(0)) await one.close();
  const quarantine = await Quarantine.open(folder, processes);
  opened.push(quarantine);
  return quarantine;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-quarantine-'));
  opened = [];
  alive.clear();
});
afterEach(async () => {
  for (const one of opened) await one.close();
  rmSync(folder, { recursive: true });
});

describe('a quarantined lane', () => {
  it('[L18] blocks what overlaps it, its checkout included, and no sibling', async () => {
    const quarantine = await open();
    await quarantine.add(a, 'Process 7 is not gone.', [running(7)]);
    expect(quarantine.blocks(a)?.reason).toBe('Process 7 is not gone.');
    expect(quarantine.blocks(root)).toBeDefined();
    expect(quarantine.blocks(b)).toBeUndefined();
  });

  it('stays so over a restart', async () => {
    await (await open()).add(a, 'Process 7 is not gone.', [running(7)]);
    expect((await open()).list()).toMatchObject([{ lane: a, processes: [{ pid: 7 }] }]);
  });

  it('heals when all its processes are gone, for good', async () => {
    const quarantine = await open();
    await quarantine.add(a, 'Two processes are not gone.', [running(7)]);
    await quarantine.add(a, 'Two processes are not gone.', [running(8)]);
    await quarantine.add(b, 'Process 9 is not gone.', [running(9)]);
    alive.delete(7);
    expect(await quarantine.recheck()).toEqual([]);
    alive.delete(8);
    expect((await quarantine.recheck()).map(({ lane }) => lane)).toEqual([a]);
    expect([quarantine.blocks(a), quarantine.blocks(b)?.lane]).toEqual([undefined, b]);
    expect((await open()).list().map(({ lane }) => lane)).toEqual([b]);
  });

  it('heals by itself while it is watched, and tidies a lane up before that is usable', async () => {
    const quarantine = await open();
    await quarantine.add(a, 'Process 7 is not gone.', [running(7)]);
    const usableWhenTidied: boolean[] = [];
    const healed = new Promise((resolve, reject) => {
      const stop = quarantine.watch(5, {
        tidy: (lane) => usableWhenTidied.push(quarantine.blocks(lane) === undefined),
        onHealed: (lanes) => {
          stop();
          resolve(lanes.map(({ lane }) => lane));
        },
        onError: reject,
      });
    });
    alive.delete(7);
    expect(await healed).toEqual([a]);
    expect(usableWhenTidied).toEqual([false]);
  });

  it.each([
    ['first', true],
    ['last', false],
  ])('waits for an operator where the doubt that no process settles came %s', async (_, doubtFirst) => {
    const quarantine = await open();
    const doubt = () => quarantine.add(a, 'The .git directory was exchanged during a call.', []);
    if (doubtFirst) await doubt();
    await quarantine.add(a, 'Process 7 is not gone.', [running(7)]);
    if (!doubtFirst) await doubt();
    alive.delete(7);
    expect(await quarantine.recheck()).toEqual([]);
    const { reason } = quarantine.blocks(a) ?? {};
    expect(reason).toContain('The .git directory was exchanged during a call.');
    expect(reason).toContain('Process 7 is not gone.');
    expect(await quarantine.release(laneKey(a))).toBe(true);
  });

  it('waits for an operator where no process is known to wait for', async () => {
    const quarantine = await open();
    await quarantine.add(root, 'The .git directory was exchanged during a call.', []);
    expect(await quarantine.recheck()).toEqual([]);
    expect(await quarantine.release(laneKey(root))).toBe(true);
    expect(await quarantine.release(laneKey(root))).toBe(false);
    expect((await open()).list()).toEqual([]);
  });

  it('is never forgotten by way of a damaged file', async () => {
    writeFileSync(join(folder, 'quarantine.json'), '{"version":1,"lanes":[{}]}');
    await expect(Quarantine.open(folder, processes)).rejects.toThrow('move it away');
  });
});
