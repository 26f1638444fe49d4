import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pause } from '@codelanes/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { defaultConnectionClocks } from './messages.js';
import type { FromConnection } from './messages.js';
import { Session } from './session.js';

type Reply = { status?: number; body: object; after?: Promise<unknown> } | { pieces: string[] } | 'hang';
type Handler = (route: string, body: Record<string, unknown>) => Reply;

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

const token = 'f'.repeat(64);
const id = (digit: string) => digit.repeat(32);
const lease = (callId: string) => ({ callId, generation: 1, token });
const assignment = (callId: string) => ({
  ...lease(callId),
  lane: ['primary'],
  mode: 'exclusive',
  pool: 'command',
  executionMs: 30_000,
  request: { protocolVersion: 1, operation: 'execute_command', workspaceId: 'primary', command: 'true' },
});
const registered = {
  version: 1,
  slots: 2,
  filePool: 16,
  leaseTtlMs: 60_000,
  renewEveryMs: 50,
  unresolved: [],
};

/** A bridge that answers as the test says, on a free port of loopback. */
async function bridge(handle: Handler): Promise<string> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const route = request.url?.split('/').at(-1) ?? '';
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
      const reply = handle(route, body as Record<string, unknown>);
      if (reply === 'hang') return;
      if ('pieces' in reply) {
        // Left open: a stream goes on.
        for (const piece of reply.pieces) response.write(piece);
        return;
      }
      void Promise.resolve(reply.after).then(() => {
        response.writeHead(reply.status ?? 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(reply.body));
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

/** A session under test, with what it said and whom it killed. */
function session(bridgeUrl: string) {
  const said: FromConnection[] = [];
  const killed: number[] = [];
  const waiters: {
    wanted: (message: FromConnection) => boolean;
    resolve: (found: FromConnection) => void;
  }[] = [];
  const under = new Session(
    {
      bridgeUrl,
      access: { token: 'worker-token' },
      workerId: 'w',
      incarnationId: id('1'),
      journalId: id('2'),
      capabilities: {
        statefulWorkspace: true,
        sandboxProfile: 'test',
        runtimes: [],
        sharedReads: true,
        workspaceTools: { protocolVersion: 1, operations: ['read_file'], workspaces: [{ id: 'primary' }] },
      },
      slots: 2,
      takeOver: false,
      clocks: { ...defaultConnectionClocks, leaseMarginMs: 100, retryMinMs: 5, retryMaxMs: 20 },
    },
    (message) => {
      said.push(message);
      for (const waiter of [...waiters]) if (waiter.wanted(message)) waiter.resolve(message);
    },
    { kill: ({ pid }) => killed.push(pid) },
  );
  open.push({
    close: () => {
      under.accept({ kind: 'close' });
    },
  });
  const until = (kind: FromConnection['kind']) =>
    new Promise<FromConnection>((resolve) => {
      const found = said.find((message) => message.kind === kind);
      if (found === undefined) waiters.push({ wanted: (message) => message.kind === kind, resolve });
      else resolve(found);
    });
  return { under, said, killed, until };
}

/** Resolves when something is so. */
async function when(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

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
