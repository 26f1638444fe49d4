import { expect, it } from 'vitest';
import { HeardCalls } from './heard-calls.js';

it('tells each news of a call once, and only of a call that is followed', () => {
  const heard = new HeardCalls();
  heard.hear('call', { state: 'reserved' });
  const { take } = heard.follow('call');
  expect(take()).toBeUndefined();
  heard.hear('call', { state: 'delivered' });
  heard.hear('other', { state: 'running' });
  expect(take()).toEqual({ state: 'delivered' });
  expect(take()).toBeUndefined();
});

it('tells how a call ended rather than that it did', () => {
  const heard = new HeardCalls();
  const { take } = heard.follow('call');
  heard.hear('call', { end: 'withdrawn|cancelled||' });
  heard.hear('call', { state: 'withdrawn' });
  expect(take()).toEqual({ end: 'withdrawn|cancelled||' });
});

it('takes no reply to a submission for newer than news that came before it', () => {
  const heard = new HeardCalls();
  const { take } = heard.follow('call');
  heard.entered('call', 'reserved');
  expect(take()).toEqual({ state: 'reserved' });
  heard.hear('call', { state: 'delivered' });
  expect(take()).toEqual({ state: 'delivered' });
  heard.entered('call', 'reserved');
  expect(take()).toBeUndefined();
});

it('tells nothing that was heard before a connection was lost', () => {
  const heard = new HeardCalls();
  const { take } = heard.follow('call');
  heard.hear('call', { state: 'delivered' });
  heard.forget();
  expect(take()).toBeUndefined();
});

it('tells everybody who follows a call, until each has stopped', () => {
  const heard = new HeardCalls();
  const [one, other] = [heard.follow('call'), heard.follow('call')];
  heard.hear('call', { state: 'running' });
  expect(one.take()).toEqual({ state: 'running' });
  one.stop();
  heard.hear('call', { state: 'cancelling' });
  expect(one.take()).toBeUndefined();
  expect(other.take()).toEqual({ state: 'cancelling' });
});
