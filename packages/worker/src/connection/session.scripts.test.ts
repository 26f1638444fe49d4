import type { Pause } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import {
  assignment,
  bridge,
  id,
  lease,
  registered,
  session,
  token,
  when,
  type Reply,
} from './testing/session-rig.js';

describe('a script that waits for tools', () => {
  const init = { pid: 4242, startTime: 1, bootId: 'b' };
  const pause: Pause = {
    status: 'paused',
    toolCalls: [{ id: 'call_001', name: 'look-up', input: {} }],
    stdout: '',
  };
  const newToken = '0'.repeat(64);

  interface Resumption {
    /** What the second poll brings, once the bridge has been told of the pause. */
    readonly second?: object;
    /** What the bridge has been asked to renew when it answers that it has taken the pause. */
    readonly answersWhen?: (renewed: readonly (readonly string[])[]) => boolean;
    /** The same when the second poll brings what it does. */
    readonly bringsWhen?: (renewed: readonly (readonly string[])[]) => boolean;
    /** Whether renewals are answered yet. */
    readonly renewsWhen?: () => boolean;
  }

  /** A bridge that hands a call out, and answers its settlement as the test says. */
  function pausing(settled: object, resumption: Resumption = {}) {
    const { second, answersWhen, bringsWhen, renewsWhen } = resumption;
    const always = () => true;
    const renewed: string[][] = [];
    let polls = 0;
    let isTold = false;
    const url = bridge((route, body) => {
      if (route === 'register') return { body: registered };
      if (route === 'settle') {
        isTold = true;
        return { body: settled, after: when(() => (answersWhen ?? always)(renewed)) };
      }
      if (route === 'renew') {
        const leases = body['leases'] as { callId: string; token: string }[];
        renewed.push(leases.map((each) => each.token));
        // Its lease is over as soon as the pause has been taken.
        const lost = leases.filter((each) => each.token === token).map(({ callId }) => callId);
        return { body: { version: 1, lost, cancellations: [] }, after: when(renewsWhen ?? always) };
      }
      if (route !== 'poll') return { body: { version: 1, fenced: [] } };
      polls += 1;
      const brings = [assignment(id('a')), second][polls - 1];
      if (brings === undefined) return 'hang';
      return {
        body: { version: 1, heldMs: 0, assignments: [brings], cancellations: [] },
        after: when(() => polls === 1 || (isTold && (bringsWhen ?? always)(renewed))),
      };
    });
    return { url, renewed };
  }

  async function pausedSession(url: Promise<string>) {
    const under = session(await url);
    void under.under.run();
    await under.until('assignment');
    under.under.accept({ kind: 'started', lease: lease(id('a')), init });
    under.under.accept({ kind: 'settle', lease: lease(id('a')), settlement: pause });
    return under;
  }

  it('is left alone when its lease is over because the bridge has taken its pause', async () => {
    const { url, renewed } = pausing(
      { version: 1, accepted: true },
      { answersWhen: ({ length }) => length > 0 },
    );
    const { said, killed, under } = await pausedSession(url);
    await expect.poll(() => renewed).toHaveLength(1);
    under.accept({ kind: 'close' });
    await expect.poll(() => said.at(-1)).toEqual({ kind: 'closed' });
    expect(renewed).toHaveLength(1);
    expect(said.map(({ kind }) => kind)).not.toContain('lost');
    expect(killed).toEqual([]);
  });

  it('is lost when the bridge does not take its pause', async () => {
    const { url } = pausing({ version: 1, accepted: false });
    const { until } = await pausedSession(url);
    expect(await until('lost')).toEqual({ kind: 'lost', callId: id('a') });
  });

  it('ends where a bridge that was started anew knows nothing of it', async () => {
    const told: unknown[] = [];
    const lost: Reply = { status: 404, body: { code: 'WORKER_NOT_FOUND', error: 'unknown' } };
    let isNew = false;
    let polls = 0;
    const url = await bridge((route, body) => {
      if (route === 'register') {
        told.push(body['paused']);
        return { body: { ...registered, forgotten: isNew ? [id('a')] : [] } };
      }
      if (route === 'settle') {
        isNew = true;
        return { body: { version: 1, accepted: true } };
      }
      if (route !== 'poll') return { body: { version: 1, fenced: [], lost: [], cancellations: [] } };
      polls += 1;
      if (polls > 2) return 'hang';
      if (polls === 1) {
        return { body: { version: 1, heldMs: 0, assignments: [assignment(id('a'))], cancellations: [] } };
      }
      // The session has heard that its pause was taken: both ends have had some turns of this event loop since.
      let turns = 0;
      return { ...lost, after: when(() => isNew && ++turns > 20) };
    });
    const { until } = await pausedSession(Promise.resolve(url));
    expect(await until('lost')).toEqual({ kind: 'lost', callId: id('a') });
    expect(told).toEqual([[], [id('a')]]);
  });

  it('keeps the lease under which it goes on, however late its pause is answered', async () => {
    const again = { ...assignment(id('a')), generation: 2, token: newToken };
    const { url, renewed } = pausing(
      { version: 1, accepted: true },
      { second: again, answersWhen: (all) => all.some(([each]) => each === newToken) },
    );
    const { said } = await pausedSession(url);
    await expect.poll(() => renewed.slice(-3)).toEqual([[newToken], [newToken], [newToken]]);
    await expect.poll(() => renewed.length).toBeGreaterThan(8);
    expect(said.map(({ kind }) => kind)).not.toContain('lost');
  });

  it('keeps the lease under which it goes on, however late it hears that the one before is over', async () => {
    const again = { ...assignment(id('a')), generation: 2, token: newToken };
    let goesOn = false;
    const { url, renewed } = pausing(
      { version: 1, accepted: true },
      {
        second: again,
        answersWhen: (all) => all.some(([each]) => each === newToken),
        bringsWhen: ({ length }) => length > 0,
        renewsWhen: () => goesOn,
      },
    );
    const { said, killed } = await pausedSession(url);
    await expect.poll(() => said.filter(({ kind }) => kind === 'assignment')).toHaveLength(2);
    goesOn = true;
    await expect.poll(() => renewed.filter(([each]) => each === newToken).length).toBeGreaterThan(3);
    expect(said.map(({ kind }) => kind)).not.toContain('lost');
    expect(killed).toEqual([]);
  });

  it('keeps the lease under which it goes on, however late it hears that its start came too late', async () => {
    const again = { ...assignment(id('a')), generation: 2, token: newToken };
    const [renewed, brought]: [string[], object[]] = [[], [assignment(id('a')), again]];
    let [isTold, goesOn] = [false, false];
    const url = await bridge((route, body) => {
      switch (route) {
        case 'register':
          return { body: registered };
        case 'report':
          isTold = true;
          return { body: { version: 1, fenced: [id('a')] }, after: when(() => goesOn) };
        case 'renew': {
          const leases = body['leases'] as { token: string }[];
          renewed.push(...leases.map((each) => each.token));
          return { body: { version: 1, lost: [], cancellations: [] } };
        }
        default: {
          const next = brought.shift();
          if (next === undefined) return 'hang';
          const after = when(() => brought.length > 0 || isTold);
          return { body: { version: 1, heldMs: 0, assignments: [next], cancellations: [] }, after };
        }
      }
    });
    const { under, said, killed, until } = session(url);
    void under.run();
    await until('assignment');
    under.accept({ kind: 'started', lease: lease(id('a')), init });
    await expect.poll(() => said.filter(({ kind }) => kind === 'assignment')).toHaveLength(2);
    goesOn = true;
    const before = renewed.length;
    await expect
      .poll(() => renewed.slice(before).filter((each) => each === newToken).length)
      .toBeGreaterThan(3);
    expect(said.map(({ kind }) => kind)).not.toContain('lost');
    expect(killed).toEqual([]);
  });
});
