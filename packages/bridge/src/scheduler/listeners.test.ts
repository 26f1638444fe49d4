import { expect, it } from 'vitest';
import { Listeners } from './listeners.js';

it('calls back after the present transition, once for many marks, and only who listens to that key', async () => {
  const listeners = new Listeners();
  const heard: string[] = [];
  const off = listeners.on('a', () => heard.push('first'));
  listeners.on('a', () => heard.push('second'));
  listeners.on('b', () => heard.push('other'));
  listeners.mark('a');
  listeners.mark('a');
  expect(heard).toEqual([]);
  await Promise.resolve();
  expect(heard).toEqual(['first', 'second']);
  off();
  listeners.mark('a');
  await Promise.resolve();
  expect(heard).toEqual(['first', 'second', 'second']);
});

it('takes a listener that was given twice off once', async () => {
  const listeners = new Listeners();
  let heard = 0;
  const listener = () => {
    heard += 1;
  };
  const off = listeners.on('a', listener);
  listeners.on('a', listener);
  off();
  off();
  listeners.mark('a');
  await Promise.resolve();
  expect(heard).toBe(1);
});
