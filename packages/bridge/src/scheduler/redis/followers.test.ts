import { expect, it } from 'vitest';
import { Followers } from './followers.js';
import { HeardCalls } from './heard-calls.js';
import { ReplyReader } from './reply-reader.js';

/** Follows a call of which no news come, and which is in that state in Redis. */
function followed(state: string) {
  const beating: string[] = [];
  const followers = new Followers(
    {
      scripts: { run: () => Promise.resolve({ code: 'OK', values: new ReplyReader([state, '']) }) },
      wakes: { onCall: () => () => undefined },
      processes: { lostSecondsOf: () => ({ endOf: (_worker, _call, end) => end }) },
      presence: { begin: (workerId) => beating.push(workerId) },
    },
    new HeardCalls(),
  );
  return { follower: followers.follow('call', 'worker-1', () => undefined), beating };
}

it('says that its bridge lives once a call is seen to wait, though the news that it came back was lost', async () => {
  const { follower, beating } = followed('waiting');
  expect(beating).toEqual([]);
  expect(await follower.progress()).toEqual({ how: 'open', state: 'waiting' });
  expect(beating).toEqual(['worker-1']);
});

it('says nothing for a call that runs', async () => {
  const { follower, beating } = followed('running');
  expect(await follower.progress()).toEqual({ how: 'open', state: 'running' });
  expect(beating).toEqual([]);
});
