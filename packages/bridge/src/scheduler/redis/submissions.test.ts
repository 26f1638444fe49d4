import { setImmediate as nextTurn } from 'node:timers/promises';
import { CodelanesError } from '@codelanes/protocol';
import { describe, expect, it, vi } from 'vitest';
import { defaultSchedulerSettings } from '../scheduler-settings.js';
import type { NewToolCall } from '../stored-call.js';
import { ReplyReader } from './reply-reader.js';
import { Submissions } from './submissions.js';
import type { ScriptReply } from './worker-scripts.js';

const call: NewToolCall = {
  callId: 'ab'.repeat(16),
  workerId: 'worker',
  lane: ['primary'],
  mode: 'exclusive',
  pool: 'file',
  principal: 'ann',
  fingerprint: 'f',
  executionMs: 1_000,
  request: { protocolVersion: 1, workspaceId: 'primary', operation: 'read_file', path: 'README.md' },
};

function givenUp(): Promise<never> {
  return Promise.reject(new CodelanesError('STORE_UNAVAILABLE', 'Every attempt to connect failed.'));
}

function told(state: string): ScriptReply {
  return { code: 'OK', values: new ReplyReader([state]) };
}

/** How Redis takes the rest of a submission. */
interface Conduct {
  readonly refusals?: number;
  /** Which worker has the id of the call. */
  readonly claim?: () => Promise<string>;
  readonly cancel?: () => Promise<ScriptReply>;
}

/**
 * Submits while Redis is away; `enters` is what becomes of the script that enters the call. That it is to be taken back is
 * refused so often, each time with work of others waiting for its turn.
 */
function submitting(
  enters: () => Promise<ScriptReply>,
  wasConnectedMeanwhile: () => boolean,
  { refusals = 0, claim = givenUp, cancel = () => Promise.resolve(told('withdrawn')) }: Conduct = {},
) {
  const scripts: string[] = [];
  const submissions = new Submissions({
    scripts: {
      run: (name) => {
        scripts.push(name);
        if (name === 'submit') return enters();
        if (scripts.length <= 2 * refusals) {
          setImmediate(() => scripts.push('others'));
          return givenUp();
        }
        return cancel();
      },
    },
    settings: defaultSchedulerSettings,
    name: { id: 'bridge', nextAttempt: () => 'bridge-1' },
    whereabouts: { claim, remember: () => undefined },
    wakes: { hearOf: () => Promise.resolve() },
    heard: { entered: () => undefined },
    presence: { begin: () => undefined },
    reach: { watch: () => () => !wasConnectedMeanwhile() },
  });
  return { scripts, submissions, submitted: submissions.submit(call) };
}

it('says that a call never ran where nothing of its submission can have reached Redis', async () => {
  const { scripts, submitted } = submitting(givenUp, () => false);
  await expect(submitted).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(scripts).toEqual(['submit']);
});

it('says so of none that may still reach Redis after another command was given up, and takes it back', async () => {
  let isConnected = false;
  let enter = (_reply: ScriptReply): void => undefined;
  const entered = new Promise<ScriptReply>((resolve) => {
    enter = resolve;
  });
  const { scripts, submitted } = submitting(
    () => entered,
    () => isConnected,
  );
  const failure = submitted.catch((error: unknown) => error);
  await nextTurn();
  isConnected = true;
  enter(told('waiting'));
  expect(await failure).toMatchObject({ code: 'ASSIGNMENT_EXPIRED' });
  await vi.waitFor(() => {
    expect(scripts).toEqual(['submit', 'cancel']);
  }, 30_000);
});

it('leaves others their turn while Redis refuses to take a call back', async () => {
  const { scripts, submitted } = submitting(givenUp, () => true, { refusals: 2 });
  await expect(submitted).rejects.toMatchObject({ code: 'ASSIGNMENT_EXPIRED' });
  await vi.waitFor(() => {
    expect(scripts).toEqual(['submit', 'cancel', 'others', 'cancel', 'others', 'cancel']);
  }, 30_000);
});

it('asks a Redis in trouble to take many calls back one after the other', async () => {
  let asked = 0;
  let answer = (_state: ScriptReply): void => undefined;
  const answered = new Promise<ScriptReply>((resolve) => {
    answer = resolve;
  });
  const cancel = (): Promise<ScriptReply> => {
    asked += 1;
    return answered;
  };
  const { submissions, submitted } = submitting(givenUp, () => true, { cancel });
  const others = Array.from({ length: 20 }, (_, index) => {
    return submissions.submit({ ...call, callId: String(index).padStart(32, '0') });
  });
  const answers = await Promise.allSettled([submitted, ...others]);
  expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(21);
  expect(asked).toBe(1);
  answer(told('withdrawn'));
  await expect.poll(() => asked, { timeout: 30_000 }).toBe(21);
});

describe('a call whose id another worker has', () => {
  /** It is entered before that is known, and taken out again, with what comes of it there. */
  function takingBack(cancel: () => Promise<ScriptReply>) {
    return submitting(
      () => Promise.resolve(told('reserved')),
      () => true,
      { claim: () => Promise.resolve('another'), cancel },
    ).submitted;
  }

  it('is refused where it was taken back in time', async () => {
    const submitted = takingBack(() => Promise.resolve(told('withdrawn')));
    expect(await submitted).toMatchObject({ ok: false, error: { code: 'CALL_ID_TAKEN' } });
  });

  it.each(['cancelling', 'settled', 'interrupted'])('may have run where it is %s by then', async (state) => {
    await expect(takingBack(() => Promise.resolve(told(state)))).rejects.toMatchObject({
      code: 'ASSIGNMENT_EXPIRED',
    });
  });

  it('may have run where Redis is lost meanwhile', async () => {
    await expect(takingBack(givenUp)).rejects.toMatchObject({ code: 'ASSIGNMENT_EXPIRED' });
  });
});
