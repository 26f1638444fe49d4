import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../manual-clock.js';
import { Restarts } from './restarts.js';

const agreementMs = 1_500;

let clock: ManualClock;
let answers: (string | undefined)[];
let told: boolean[];
let corrections: number;
let restarts: Restarts;

beforeEach(() => {
  clock = new ManualClock();
  answers = [];
  told = [];
  corrections = 0;
  restarts = new Restarts({
    clock,
    askRunId: () => Promise.resolve(answers.shift()),
    correct: () => {
      corrections += 1;
      return Promise.resolve();
    },
    onKnown: (isAnother) => told.push(isAnother),
  });
});

/** Connects, and lets everything happen that waits for no clock. */
async function connectTo(runId: string | undefined): Promise<void> {
  answers.push(runId);
  restarts.connected();
  await settled();
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    clock.advance(50);
    await settled();
  }
}

describe('a connection to Redis', () => {
  it('leads to no other one at first, and where the same process answers again', async () => {
    await connectTo('first');
    const wasRestarted = restarts.watch();
    await connectTo('first');
    expect(await wasRestarted()).toBe(false);
    expect([told, corrections]).toEqual([[false, false], 0]);
    expect(restarts.agreement()).toBeUndefined();
  });

  it('leads to another one where another process answers: all is said again and again, and nothing handed over', async () => {
    await connectTo('first');
    const wasRestarted = restarts.watch();
    await connectTo('second');
    expect(await wasRestarted()).toBe(true);
    expect(restarts.agreement()).toBeDefined();
    await pass(agreementMs);
    expect(corrections).toBe(5);
    expect(restarts.agreement()).toBeUndefined();
  });

  it('may lead to another one where the one before was lost before its process had said its name', async () => {
    await connectTo(undefined);
    const wasRestarted = restarts.watch();
    await connectTo('second');
    expect(await wasRestarted()).toBe(true);
    expect(told).toEqual([true]);
  });

  it('is known again where one in between was lost too early', async () => {
    await connectTo('first');
    await connectTo(undefined);
    await connectTo('first');
    expect(told).toEqual([false, false]);
  });

  it('that is cut and made again does not shorten the time in which nothing is handed over', async () => {
    await connectTo('first');
    await connectTo('second');
    await pass(300);
    await connectTo('second');
    expect(restarts.agreement()).toBeDefined();
    await pass(agreementMs);
    expect(restarts.agreement()).toBeUndefined();
  });
});
