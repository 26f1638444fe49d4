import { readFileSync } from 'node:fs';
import { laneSchema } from '@codelanes/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { QueuedCall } from './queued-call.js';
import { Room } from './room.js';
import { nextToStart } from './rule.js';
import { RunningIndex } from './running-index.js';
import type { NodeCapacity } from './store.js';
import { anyCapacities, anyClaim, type AnyClaim } from './testing/arbitrary-calls.js';
import { conflictsAmong, naiveNext } from './testing/naive-rule.js';
import { WaitingIndex } from './waiting-index.js';

/** The indexes and plain lists of the same calls side by side; the rule is asked of the first. */
class Scene {
  readonly waiting = new WaitingIndex();
  readonly running = new RunningIndex();
  readonly waitingList: QueuedCall[] = [];
  readonly runningList: QueuedCall[] = [];
  readonly withheld = new Set<QueuedCall>();
  room: Room;
  readonly #capacities: readonly NodeCapacity[];
  #sequence = 0;

  constructor(slots: number, filePool: number, capacities: readonly NodeCapacity[] = []) {
    this.#capacities = capacities;
    this.room = new Room(slots, filePool, capacities);
  }

  resize(slots: number): void {
    this.room = new Room(slots, this.room.filePool, this.#capacities);
  }

  submit(claim: AnyClaim, id = `c${this.#sequence}`): QueuedCall {
    this.#sequence += 1;
    const call = { ...claim, id, sequence: this.#sequence };
    this.wait(call, true);
    return call;
  }

  wait(call: QueuedCall, offered: boolean): void {
    this.waiting.add(call, offered);
    this.waitingList.push(call);
    if (!offered) this.withheld.add(call);
  }

  offer(call: QueuedCall): void {
    this.waiting.offer(call);
    this.withheld.delete(call);
  }

  leave(call: QueuedCall): void {
    this.waiting.delete(call);
    this.waitingList.splice(this.waitingList.indexOf(call), 1);
    this.withheld.delete(call);
  }

  end(call: QueuedCall): void {
    this.running.delete(call);
    this.runningList.splice(this.runningList.indexOf(call), 1);
  }

  /** What the word-by-word rule says of the lists. */
  naive(): QueuedCall | undefined {
    return naiveNext({
      waiting: this.waitingList.map((call) => ({ ...call, blocked: this.withheld.has(call) })),
      running: this.runningList,
      slots: this.room.slots,
      filePool: this.room.filePool,
      capacities: this.#capacities,
    });
  }

  /** Starts one call after the other; `onDecision` sees each answer beside the word-by-word rule's. */
  startAll(
    onDecision?: (decided: QueuedCall | undefined, naive: QueuedCall | undefined) => void,
  ): QueuedCall[] {
    const started: QueuedCall[] = [];
    for (;;) {
      const next = nextToStart(this);
      if (onDecision !== undefined) onDecision(next, this.naive());
      if (next === undefined) return started;
      this.leave(next);
      this.running.add(next);
      this.runningList.push(next);
      started.push(next);
    }
  }
}

const traceSchema = z.object({
  name: z.string(),
  slots: z.int(),
  files: z.int(),
  capacities: z.array(z.tuple([laneSchema, z.int()])),
  steps: z.array(
    z.object({
      do: z.enum(['submit', 'finish', 'withdraw', 'resize']),
      id: z.string().optional(),
      lane: laneSchema.optional(),
      mode: z.enum(['shared', 'exclusive']).optional(),
      pool: z.enum(['command', 'file']).optional(),
      caller: z.string().optional(),
      slots: z.int().optional(),
      starts: z.array(z.string()),
    }),
  ),
});

const vectors = new URL('../../../../e2e/fixtures/vectors/scheduling.jsonl', import.meta.url);

describe('the rule', () => {
  it('decides every step of every trace as the reference model does', () => {
    const traces = readFileSync(vectors, 'utf8').trim().split('\n');
    expect(traces).toHaveLength(200);
    for (const line of traces) {
      const { name, slots, files, capacities, steps } = traceSchema.parse(JSON.parse(line));
      const scene = new Scene(
        slots,
        files,
        capacities.map(([lane, commands]) => ({ lane, commands })),
      );
      const calls = new Map<string, QueuedCall>();
      for (const [index, step] of steps.entries()) {
        const { id = '', lane, mode, pool, caller } = step;
        const call = calls.get(id);
        if (lane && mode && pool && caller !== undefined) {
          calls.set(id, scene.submit({ lane, mode, pool, principal: caller }, id));
        } else if (step.do === 'finish' && call) scene.end(call);
        else if (step.do === 'withdraw' && call) scene.leave(call);
        else if (step.slots !== undefined) scene.resize(step.slots);
        const started = scene.startAll().map((one) => one.id);
        expect(started, `${name}, step ${index + 1}`).toEqual(step.starts);
      }
    }
  });

  it('[T74] is, on its indexes, the word-by-word rule on plain lists, and never lets two calls meet', () => {
    const anyStep = fc.oneof(
      { weight: 6, arbitrary: anyClaim.map((claim) => ({ do: 'submit' as const, claim })) },
      { weight: 4, arbitrary: fc.nat().map((pick) => ({ do: 'finish' as const, pick })) },
      { weight: 1, arbitrary: fc.nat().map((pick) => ({ do: 'leave' as const, pick })) },
      { weight: 1, arbitrary: fc.nat().map((pick) => ({ do: 'return' as const, pick })) },
      { weight: 1, arbitrary: fc.nat().map((pick) => ({ do: 'withhold' as const, pick })) },
      { weight: 1, arbitrary: fc.constant({ do: 'offer' as const }) },
      {
        weight: 1,
        arbitrary: fc.integer({ min: 1, max: 5 }).map((slots) => ({ do: 'resize' as const, slots })),
      },
    );
    const anyTrace = fc.array(anyStep, { minLength: 20, maxLength: 120, size: 'max' });
    fc.assert(
      fc.property(anyTrace, anyCapacities, fc.integer({ min: 1, max: 4 }), (trace, capacities, filePool) => {
        const scene = new Scene(3, filePool, capacities);
        for (const step of trace) {
          take(scene, step);
          scene.startAll((decided, naive) => {
            expect(decided?.id).toBe(naive?.id);
          });
          expect(conflictsAmong(scene.runningList)).toEqual([]);
          expect(scene.waiting.size).toBe(scene.waitingList.length);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('[L5] [L6] holds a worktree lane apart from itself and from its checkout, and lets siblings run', () => {
    const scene = new Scene(8, 8);
    const command = { mode: 'exclusive', pool: 'command', principal: 'ann' } as const;
    const a = scene.submit({ ...command, lane: ['primary', 'worktree:a'] });
    const b = scene.submit({ ...command, lane: ['primary', 'worktree:b'] });
    const again = scene.submit({ ...command, lane: ['primary', 'worktree:a'] });
    const root = scene.submit({ ...command, lane: ['primary'] });
    expect(scene.startAll()).toEqual([a, b]);
    scene.end(a);
    expect(scene.startAll()).toEqual([again]);
    scene.end(again);
    expect(scene.startAll()).toEqual([]);
    scene.end(b);
    expect(scene.startAll()).toEqual([root]);
    scene.submit({ ...command, lane: ['primary', 'worktree:b'] });
    expect(scene.startAll()).toEqual([]);
  });

  it('[T75] lets a checkout call start after the calls before it, however many lanes ask again behind it', () => {
    const anyAsks = fc.array(anyClaim, { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(anyAsks, anyAsks, (before, after) => {
        const scene = new Scene(3, 3);
        for (const claim of before) scene.submit(claim);
        const root = scene.submit({
          lane: ['primary'],
          mode: 'exclusive',
          pool: 'command',
          // Whoever has calls of its own running waits longer, as fairness wants.
          principal: 'dee',
        });
        let ended = 0;
        const asks = [...after];
        scene.startAll();
        while (!scene.runningList.includes(root)) {
          const [oldest] = scene.runningList;
          if (oldest === undefined) throw new Error('nothing runs, and the checkout call does not start');
          scene.end(oldest);
          ended += 1;
          // Every end brings a new call that would like to be first.
          scene.submit(asks[ended % asks.length] ?? { ...root });
          scene.startAll();
          expect(ended).toBeLessThanOrEqual(before.length + 200);
          const overtakers = scene.runningList.filter(
            (call) => call.sequence > root.sequence && call.lane[0] === 'primary',
          );
          expect(overtakers).toEqual([]);
        }
      }),
      { numRuns: 100 },
    );
  });
});

type Step =
  | { readonly do: 'submit'; readonly claim: AnyClaim }
  | { readonly do: 'finish' | 'leave' | 'return' | 'withhold'; readonly pick: number }
  | { readonly do: 'offer' }
  | { readonly do: 'resize'; readonly slots: number };

function take(scene: Scene, step: Step): void {
  switch (step.do) {
    case 'submit':
      scene.submit(step.claim);
      return;
    case 'resize':
      scene.resize(step.slots);
      return;
    case 'offer':
      for (const call of [...scene.withheld]) scene.offer(call);
      return;
    case 'leave': {
      const call = scene.waitingList[step.pick % scene.waitingList.length];
      if (call !== undefined) scene.leave(call);
      return;
    }
    case 'finish':
    case 'return':
    case 'withhold': {
      const call = scene.runningList[step.pick % scene.runningList.length];
      if (call === undefined) return;
      scene.end(call);
      if (step.do !== 'finish') scene.wait(call, step.do === 'return');
    }
  }
}
