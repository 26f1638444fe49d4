import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { assignment, bridge, id, lease, registered, session } from './testing/session-rig.js';

describe('Session', () => {
  it('kills what runs under a lease that it cannot renew, before the lease ends, and says so', async () => {
    let polls = 0;
    const url = await bridge((route) => {
      if (route === 'register') return { body: { ...registered, leaseTtlMs: 600 } };
      if (route === 'poll') {
        polls += 1;
        if (polls > 1) return 'hang';
        return { body: { version: 1, heldMs: 0, assignments: [assignment(id('a'))], cancellations: [] } };
      }
      if (route === 'report') return { body: { version: 1, fenced: [] } };
      return 'hang';
    });
    const { under, killed, until } = session(url);
    void under.run();
    await until('assignment');
    under.accept({ kind: 'started', lease: lease(id('a')), init: { pid: 4242, startTime: 1, bootId: 'b' } });
    expect(await until('lost')).toEqual({ kind: 'lost', callId: id('a') });
    expect(killed).toEqual([4242]);
  });

  it('polls under the registration that it made last, of which each has a name of its own', async () => {
    const named: [string, unknown][] = [];
    const url = await bridge((route, { registrationId }) => {
      named.push([route, registrationId]);
      if (route === 'register') return { body: registered };
      if (named.length >= 4) return 'hang';
      return { status: 404, body: { code: 'WORKER_NOT_FOUND', error: 'Who?' } };
    });
    void session(url).under.run();
    await expect.poll(() => named.length).toBe(4);
    expect(named.map(([route]) => route)).toEqual(['register', 'poll', 'register', 'poll']);
    const [first, firstPoll, second, secondPoll] = named.map(([, registrationId]) => registrationId);
    expect([firstPoll, secondPoll]).toEqual([first, second]);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(second).not.toBe(first);
  });

  it('tells of closed lanes at every registration, and at once when they change', async () => {
    const told: unknown[] = [];
    let unknown = false;
    const url = await bridge((route, body) => {
      if (route === 'register') {
        told.push(body['closed']);
        unknown = false;
        return { body: registered };
      }
      if (route === 'report') {
        if (unknown) return { status: 404, body: { code: 'WORKER_NOT_FOUND', error: 'Unknown.' } };
        told.push(body['reports']);
        return { body: { version: 1, fenced: [] } };
      }
      return 'hang';
    });
    const { under, until } = session(url);
    const closed = {
      lane: ['primary', 'worktree:a'],
      cause: 'quarantine',
      reason: 'Process 7 may still run.',
      since: Date.now(),
    } as const;
    under.accept({ kind: 'closed_lanes', closed: [closed] });
    void under.run();
    await until('registered');
    const { lane, cause, reason } = closed;
    const listed = { lane, cause, reason, sinceMs: expect.any(Number) as number };
    expect(told).toEqual([[listed]]);
    under.accept({ kind: 'closed_lanes', closed: [] });
    await expect.poll(() => told).toEqual([[listed], [{ state: 'closed', lanes: [] }]]);
    // A bridge that forgot this worker is told all of it anew.
    unknown = true;
    under.accept({ kind: 'closed_lanes', closed: [closed] });
    await expect.poll(() => told[2]).toEqual([listed]);
  });

  it('says why it is put off, and asks again until it is taken in', async () => {
    let tries = 0;
    const error = 'Worker w was paired anew. What it ran before may run for up to 20 s more.';
    const url = await bridge((route) => {
      if (route !== 'register') return 'hang';
      tries += 1;
      return tries < 3 ? { status: 503, body: { code: 'WORKER_STILL_LEASED', error } } : { body: registered };
    });
    const { under, until } = session(url);
    void under.run();
    expect(await until('put_off')).toEqual({ kind: 'put_off', message: error });
    await until('registered');
    expect(tries).toBe(3);
  });

  it('asks when it drains what the poll that it gave up had brought', async () => {
    let fetched: string[] = [];
    const url = await bridge((route) => {
      if (route === 'register') return { body: { ...registered, unresolved: fetched } };
      if (route !== 'poll') return { body: { version: 1, accepted: true, fenced: [] } };
      // Handed over, in an answer that never arrives.
      fetched = [id('a')];
      under.accept({ kind: 'drain' });
      return 'hang';
    });
    const { under, said } = session(url);
    void under.run();
    await expect
      .poll(() => said.filter(({ kind }) => kind === 'registered'))
      .toMatchObject([{ unresolved: [] }, { unresolved: [id('a')] }]);
  });

  it('asks for a stream of a bridge on this machine, and takes every batch of it as it comes', async () => {
    const polls: unknown[] = [];
    const batch = (callId: string) =>
      `${JSON.stringify({ version: 1, heldMs: 0, assignments: [assignment(callId)], cancellations: [] })}\n`;
    const url = await bridge((route, body) => {
      if (route === 'register') return { body: registered };
      polls.push(body['stream']);
      const second = batch(id('b'));
      return { pieces: [batch(id('a')) + second.slice(0, 40), second.slice(40)] };
    });
    const { under, said } = session(url);
    void under.run();
    await expect
      .poll(() => said.filter(({ kind }) => kind === 'assignment'))
      .toMatchObject([{ assignment: { callId: id('a') } }, { assignment: { callId: id('b') } }]);
    expect(polls).toEqual([true]);
  });

  it('asks for no stream any more where something on the way holds its lines back', async () => {
    const polls: unknown[] = [];
    const url = await bridge((route, body) => {
      if (route === 'register') return { body: registered };
      polls.push(body['stream']);
      if (polls.length > 1) return 'hang';
      return { body: { version: 1, heldMs: 0, assignments: [], cancellations: [] }, after: sleep(1_100) };
    });
    void session(url).under.run();
    await expect.poll(() => polls).toEqual([true, false]);
  });

  it('tells the start of a call that goes on, and not that of one that settles at once', async () => {
    let polled = false;
    const started: unknown[] = [];
    const settled: unknown[] = [];
    const url = await bridge((route, body) => {
      if (route === 'register') return { body: registered };
      if (route === 'report') {
        started.push(body['reports']);
        return { body: { version: 1, fenced: [] } };
      }
      if (route === 'settle') {
        settled.push(body['lease']);
        return { body: { version: 1, accepted: true } };
      }
      if (polled) return 'hang';
      polled = true;
      const assignments = [assignment(id('a')), assignment(id('b'))];
      return { body: { version: 1, heldMs: 0, assignments, cancellations: [] } };
    });
    const { under, until } = session(url);
    void under.run();
    await until('assignment');
    const init = { pid: 1, startTime: 1, bootId: 'boot' };
    under.accept({ kind: 'started', lease: lease(id('a')), init });
    under.accept({ kind: 'started', lease: lease(id('b')), init });
    const error = { code: 'EXECUTION_ABORTED', message: 'Stopped.' } as const;
    under.accept({ kind: 'settle', lease: lease(id('a')), settlement: { status: 'rejected', error } });
    await expect.poll(() => started).toEqual([[{ ...lease(id('b')), state: 'started' }]]);
    await expect.poll(() => settled).toEqual([lease(id('a'))]);
  });

  it('polls again before an idle worker would count as gone', async () => {
    const waits: unknown[] = [];
    const url = await bridge((route, body) => {
      if (route === 'register') return { body: { ...registered, leaseTtlMs: 10_000 } };
      waits.push(body['waitMs']);
      return 'hang';
    });
    void session(url).under.run();
    await expect.poll(() => waits).toEqual([9_900]);
  });

  it('registers again with what it holds when a restarted bridge does not know it, and settles there', async () => {
    const holds: unknown[] = [];
    const settled: unknown[] = [];
    let restarted = false;
    let delivered = false;
    const url = await bridge((route, body) => {
      switch (route) {
        case 'register':
          holds.push(body['holds']);
          return { body: registered };
        case 'poll':
          if (restarted && holds.length === 1)
            return { status: 404, body: { code: 'WORKER_NOT_FOUND', error: 'who?' } };
          if (delivered) return 'hang';
          delivered = true;
          return { body: { version: 1, heldMs: 0, assignments: [assignment(id('a'))], cancellations: [] } };
        case 'settle':
          if (holds.length === 1) {
            restarted = true;
            return { status: 404, body: { code: 'WORKER_NOT_FOUND', error: 'who?' } };
          }
          settled.push(body['lease']);
          return { body: { version: 1, accepted: true } };
        default:
          return { body: { version: 1, lost: [], cancellations: [], fenced: [] } };
      }
    });
    const { under, until } = session(url);
    void under.run();
    await until('assignment');
    under.accept({
      kind: 'settle',
      lease: lease(id('a')),
      settlement: { status: 'rejected', error: { code: 'NOT_FOUND', message: 'gone' } },
    });
    await expect.poll(() => settled).toEqual([lease(id('a'))]);
    expect(holds).toEqual([
      [],
      [{ ...lease(id('a')), lane: ['primary'], mode: 'exclusive', pool: 'command' }],
    ]);
  });

  it('passes on cancellations that come with a renewal', async () => {
    let polls = 0;
    const url = await bridge((route) => {
      if (route === 'register') return { body: registered };
      if (route === 'renew') return { body: { version: 1, lost: [], cancellations: [id('a')] } };
      polls += 1;
      if (polls > 1) return 'hang';
      return { body: { version: 1, heldMs: 0, assignments: [assignment(id('a'))], cancellations: [] } };
    });
    const { under, until } = session(url);
    void under.run();
    expect(await until('cancel')).toEqual({ kind: 'cancel', callId: id('a') });
  });

  it('ends for good when another worker holds the identity', async () => {
    const url = await bridge(() => ({ status: 409, body: { code: 'WORKER_FENCED', error: 'another one' } }));
    const { under, until } = session(url);
    const run = under.run();
    expect(await until('refused')).toEqual({
      kind: 'refused',
      code: 'WORKER_FENCED',
      message: 'another one',
    });
    await run;
  });

  it('registers again, once, where a poll is refused as that of an earlier start', async () => {
    const asked: string[] = [];
    const url = await bridge((route) => {
      asked.push(route);
      if (route === 'register') return { body: registered };
      return { status: 409, body: { code: 'WORKER_FENCED', error: 'another start' } };
    });
    const { under, until } = session(url);
    const run = under.run();
    expect(await until('refused')).toMatchObject({ code: 'WORKER_FENCED' });
    await run;
    expect(asked).toEqual(['register', 'poll', 'register', 'poll']);
  });

  it('registers again as often as polls were taken in between', async () => {
    const asked: string[] = [];
    const fenced = { status: 409, body: { code: 'WORKER_FENCED', error: 'another start' } };
    const taken = { body: { version: 1, heldMs: 0, assignments: [], cancellations: [] } };
    const polls = [fenced, taken, fenced];
    const url = await bridge((route) => {
      asked.push(route);
      return route === 'register' ? { body: registered } : (polls.shift() ?? 'hang');
    });
    const { under, said } = session(url);
    void under.run();
    const [register, poll] = ['register', 'poll'];
    await expect.poll(() => asked).toEqual([register, poll, register, poll, poll, register, poll]);
    expect(said.map(({ kind }) => kind)).not.toContain('refused');
  });

  it('closes only after everything that was to be said has been answered', async () => {
    const order: string[] = [];
    let failures = 2;
    const url = await bridge((route) => {
      if (route === 'register') return { body: registered };
      if (route === 'settle') {
        failures -= 1;
        if (failures >= 0) return { status: 503, body: { code: 'INTERNAL_FAULT', error: 'not now' } };
        order.push('settled');
        return { body: { version: 1, accepted: true } };
      }
      return 'hang';
    });
    const { under, until } = session(url);
    void under.run();
    await until('registered');
    const settlement = { status: 'rejected', error: { code: 'NOT_FOUND', message: 'gone' } } as const;
    under.accept({ kind: 'settle', lease: lease(id('a')), settlement });
    under.accept({ kind: 'close' });
    await until('closed');
    order.push('closed');
    expect(order).toEqual(['settled', 'closed']);
  });
});
