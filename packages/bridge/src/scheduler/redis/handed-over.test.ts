import { describe, expect, it } from 'vitest';
import type { CallEnd } from '../store.js';
import { HandedOver } from './handed-over.js';

const withdrawn: CallEnd = { how: 'withdrawn', why: 'deadline' };

function heard(...states: readonly string[]): HandedOver {
  const handedOver = new HandedOver();
  for (const state of states) handedOver.hear('call', state);
  return handedOver;
}

function afterAnotherRedis(...states: readonly string[]): CallEnd {
  const handedOver = heard(...states);
  handedOver.connectionLost();
  handedOver.connected(true);
  return handedOver.endOf('call', withdrawn);
}

describe('a call that Redis says left the queue', () => {
  it.each(['delivered', 'running', 'cancelling', 'paused', 'settled'])(
    'may have run where it was %s before Redis was started anew',
    (state) => {
      expect(afterAnotherRedis(state)).toMatchObject({ how: 'interrupted' });
    },
  );

  it('may have run where it is a script that waits to go on', () => {
    expect(afterAnotherRedis('paused', 'resumed')).toMatchObject({ how: 'interrupted' });
  });

  it('never ran where it was not at its worker, or had come back from there', () => {
    expect(afterAnotherRedis('reserved')).toEqual(withdrawn);
    expect(afterAnotherRedis('delivered', 'waiting')).toEqual(withdrawn);
  });

  it('never ran where only the connection was lost and nothing with it', () => {
    const handedOver = heard('delivered');
    handedOver.connectionLost();
    handedOver.connected(false);
    handedOver.hear('call', 'waiting');
    expect(handedOver.endOf('call', withdrawn)).toEqual(withdrawn);
  });

  it('may have run, whatever another Redis says of it before it is known to be another', () => {
    const handedOver = heard('running');
    handedOver.connectionLost();
    handedOver.hear('call', 'waiting');
    expect(handedOver.mayHaveRun('call')).toBe(true);
    handedOver.connected(true);
    handedOver.hear('call', 'waiting');
    expect(handedOver.endOf('call', withdrawn)).toMatchObject({ how: 'interrupted' });
  });
});

it('may have run where it runs for long while many others end', () => {
  const handedOver = heard('running');
  for (let ended = 0; ended < 10_001; ended += 1) {
    for (const state of ['delivered', 'settled']) handedOver.hear(`short-${ended}`, state);
  }
  handedOver.connectionLost();
  handedOver.connected(true);
  expect(handedOver.endOf('call', withdrawn)).toMatchObject({ how: 'interrupted' });
});

it('leaves every other end as it is', () => {
  const handedOver = heard('running');
  handedOver.connectionLost();
  handedOver.connected(true);
  const interrupted: CallEnd = { how: 'interrupted', reason: 'its lease ended' };
  expect(handedOver.endOf('call', interrupted)).toBe(interrupted);
});
