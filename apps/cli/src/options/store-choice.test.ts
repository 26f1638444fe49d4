import { describe, expect, it } from 'vitest';
import { storeChoiceOf } from './store-choice.js';

const url = 'redis://:secret@127.0.0.1:6379';

describe('storeChoiceOf', () => {
  it('is memory, unless Redis is asked for', () => {
    expect(storeChoiceOf({ store: 'memory' }, { CODELANES_REDIS_URL: url })).toEqual({ kind: 'memory' });
  });

  it('takes the Redis of the flag, else of the environment', () => {
    const environment = { CODELANES_REDIS_URL: url };
    expect(storeChoiceOf({ store: 'redis' }, environment)).toEqual({ kind: 'redis', url });
    const flags = { store: 'redis', redisUrl: 'redis://other', redisPrefix: 'mine' } as const;
    expect(storeChoiceOf(flags, environment)).toEqual({
      kind: 'redis',
      url: 'redis://other',
      prefix: 'mine',
    });
  });

  it('takes several addresses for nodes of a cluster', () => {
    const redisUrl = 'redis://one:6379,redis://two:6379';
    expect(storeChoiceOf({ store: 'redis', redisUrl }, {})).toEqual({
      kind: 'redis',
      url: ['redis://one:6379', 'redis://two:6379'],
    });
  });

  it('refuses a Redis that nobody named, and one that would not be used', () => {
    expect(() => storeChoiceOf({ store: 'redis' }, {})).toThrow('was not told in which one');
    expect(() => storeChoiceOf({ store: 'memory', redisUrl: url }, {})).toThrow('uses no Redis');
    expect(() => storeChoiceOf({ store: 'memory', redisPrefix: 'mine' }, {})).toThrow('uses no Redis');
  });
});
