import { describe, expect, it } from 'vitest';
import { Countdown } from './countdown.js';
import { ManualClock } from './manual-clock.js';

describe('a countdown', () => {
  it('calls each thing back once, in order, at its own time', () => {
    const clock = new ManualClock();
    const ended: [string, number][] = [];
    const countdown = new Countdown<string>(clock, 100, (item) => ended.push([item, clock.now()]));
    countdown.begin('a');
    clock.advance(40);
    countdown.begin('b');
    countdown.begin('removed');
    countdown.remove('removed');
    clock.advance(1_000);
    expect(ended).toEqual([
      ['a', 100],
      ['b', 140],
    ]);
  });

  it('begins anew what is begun again, also from within a call back', () => {
    const clock = new ManualClock();
    const ended: [string, number][] = [];
    const countdown = new Countdown<string>(clock, 100, (item) => {
      ended.push([item, clock.now()]);
      if (item === 'a' && ended.length === 1) countdown.begin('a');
    });
    countdown.begin('a');
    clock.advance(60);
    countdown.begin('b');
    clock.advance(30);
    countdown.begin('b');
    clock.advance(1_000);
    expect(ended).toEqual([
      ['a', 100],
      ['b', 190],
      ['a', 200],
    ]);
  });

  it('calls nothing back after it was closed', () => {
    const clock = new ManualClock();
    const ended: string[] = [];
    const countdown = new Countdown<string>(clock, 100, (item) => ended.push(item));
    countdown.begin('a');
    countdown.close();
    clock.advance(1_000);
    expect(ended).toEqual([]);
  });
});
