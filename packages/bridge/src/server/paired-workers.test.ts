import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { issuedCredentialSchema } from '@codelanes/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandBody, execute } from './testing/requests.js';
import { PairedWorker } from './testing/paired-worker.js';
import { TestBridge } from './testing/test-bridge.js';
import { TestWorker } from './testing/test-worker.js';

let bridge: TestBridge;

beforeEach(async () => {
  bridge = await TestBridge.start();
});

afterEach(async () => {
  await bridge.close();
});

describe('a paired worker', () => {
  it('registers, polls and gets work with signed requests', async () => {
    const worker = await PairedWorker.paired(bridge);
    expect((await worker.register()).status).toBe(200);
    const answer = execute(bridge, commandBody());
    const polled = await worker.poll(5_000);
    expect(polled).toMatchObject({ status: 200, json: { assignments: [{ request: { command: 'true' } }] } });
    const stopped = await bridge.send('/v1/bridge/workers/laptop/revoke', { as: 'admin', body: {} });
    expect(stopped.json).toEqual({ protocolVersion: 1, revoked: true });
    await bridge.close();
    await answer;
  });

  it('goes on with either credential after a refresh whose answer was lost', async () => {
    const worker = await PairedWorker.paired(bridge);
    await worker.register();
    const lost = issuedCredentialSchema.parse((await worker.refresh()).json);
    expect((await worker.poll()).status).toBe(200);
    const { credential } = issuedCredentialSchema.parse((await worker.refresh()).json);
    expect((await worker.poll(0, { credential })).status).toBe(200);
    expect((await worker.poll()).status).toBe(200);
    expect((await worker.poll(0, { credential: lost.credential })).json['code']).toBe('UNAUTHENTICATED');
  });

  it('is let in no more once it is revoked: its open poll ends empty, and calls find no such worker', async () => {
    const worker = await PairedWorker.paired(bridge);
    await worker.register();
    const poll = worker.poll(25_000);
    // Answered after the poll was let in, which came before it.
    expect((await worker.post('renew', { leases: [] })).status).toBe(200);
    await bridge.send('/v1/bridge/workers/laptop/revoke', { as: 'admin', body: {} });
    expect(await poll).toMatchObject({ status: 200, json: { assignments: [] } });
    expect((await worker.poll()).json['code']).toBe('UNAUTHENTICATED');
    expect((await worker.refresh()).json['code']).toBe('UNAUTHENTICATED');
    const answer = await execute(bridge, commandBody());
    expect(answer.json['code']).toBe('WORKER_OFFLINE');
    const status = await bridge.send('/v1/bridge/workers/laptop/status', { as: 'caller' });
    expect(status.json).toEqual({ protocolVersion: 1, workerId: 'laptop', online: false, ready: false });
  });

  it('comes back by a new pairing only, and by no token for workers', async () => {
    const worker = await PairedWorker.paired(bridge);
    const byToken = new TestWorker(bridge, 'laptop');
    const registration = {
      workerId: 'laptop',
      registrationId: 'b'.repeat(32),
      journalId: 'a'.repeat(32),
      slots: 1,
      holds: [],
      takeOver: true,
    };
    const register = async () => {
      const { testCapabilities } = await import('./testing/test-worker.js');
      return byToken.post('register', { ...registration, capabilities: testCapabilities() });
    };
    expect((await register()).json['code']).toBe('WORKER_UNAUTHORIZED');
    await bridge.send('/v1/bridge/workers/laptop/revoke', { as: 'admin', body: {} });
    expect((await register()).json['code']).toBe('WORKER_UNAUTHORIZED');
    const again = await PairedWorker.paired(bridge);
    expect((await again.register()).status).toBe(200);
    expect((await worker.register()).json['code']).toBe('UNAUTHENTICATED');
  });
});

describe('a worker that was paired anew', () => {
  const waiting = { takeOver: false };

  /** A worker whose leases outlast the test is revoked, and paired anew a moment later. */
  async function pairedAnew(): Promise<PairedWorker> {
    await (await PairedWorker.paired(bridge)).register();
    await bridge.send('/v1/bridge/workers/laptop/revoke', { as: 'admin', body: {} });
    // What is compared are milliseconds.
    await delay(20);
    return PairedWorker.paired(bridge);
  }

  it('is put off while what ran under the pairing before may still run, and is told for how long', async () => {
    const again = await pairedAnew();
    const putOff = await again.register({}, waiting);
    expect(putOff).toMatchObject({ status: 503, json: { code: 'WORKER_STILL_LEASED' } });
    expect(putOff.json['error']).toMatch(
      /^Worker laptop was paired anew\. What it ran under its pairing before may run for up to \d+ s more, and is stopped by then: it is taken in after that, or at once with --take-over/,
    );
  });

  it('is taken in when nothing of that can run any more', async () => {
    await bridge.close();
    bridge = await TestBridge.start({ scheduler: { leaseTtlMs: 500 } });
    await (await PairedWorker.paired(bridge)).register();
    const again = await PairedWorker.paired(bridge);
    const registered = async () => (await again.register({}, waiting)).status;
    await expect.poll(registered, { timeout: 20_000 }).toBe(200);
  });

  it('does not wait where its operator says that nothing runs there any more', async () => {
    const again = await pairedAnew();
    expect((await again.register({}, waiting)).json['code']).toBe('WORKER_STILL_LEASED');
    expect((await again.register()).status).toBe(200);
  });

  it('is no exception to the rule that one runs elsewhere: with the same key it is refused for good', async () => {
    const worker = await PairedWorker.paired(bridge);
    await worker.register();
    expect((await worker.register({}, waiting)).json['code']).toBe('WORKER_FENCED');
  });
});

describe('a bridge', () => {
  it('that makes workers say for whom they work takes no pairing without that', async () => {
    await bridge.close();
    bridge = await TestBridge.start({ pairing: { requireBinding: true } });
    const pair = (body: object) => bridge.send('/v1/bridge/pairings', { as: 'admin', body });
    const unbound = await pair({ workerId: 'laptop' });
    expect(unbound).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    expect(unbound.json['error']).toContain('body.binding');
    const binding = { tenantId: 't', principal: { type: 'user', id: 'u' } };
    expect((await pair({ workerId: 'laptop', binding })).status).toBe(200);
    expect((await pair({ workerId: 'laptop', binding: { tenantId: 't' } })).status).toBe(400);
  });

  it('lets whoever has no code ask at most thirty times a minute', async () => {
    const body = { protocolVersion: 1, code: 'x'.repeat(32), publicKey: 'none' };
    const beganAt = performance.now();
    let letIn = 0;
    for (;;) {
      const { json } = await bridge.send('/v1/bridge/pairings/redeem', { body });
      if (json['code'] === 'RATE_LIMITED') break;
      expect(json['code']).toBe('MALFORMED_REQUEST');
      letIn += 1;
    }
    // One more may come for each two seconds that have passed.
    const more = Math.ceil((performance.now() - beganAt) / 2_000);
    expect(letIn).toBeGreaterThanOrEqual(30);
    expect(letIn).toBeLessThanOrEqual(30 + more);
  });

  it('without a token for workers takes paired ones only', async () => {
    await bridge.close();
    bridge = await TestBridge.start({
      tokens: { callers: ['caller-token-of-the-tests'], admin: 'admin-token-of-the-tests' },
    });
    const byToken = new TestWorker(bridge);
    expect((await byToken.post('poll', { waitMs: 0 })).json['code']).toBe('UNAUTHENTICATED');
    const worker = await PairedWorker.paired(bridge);
    expect((await worker.register()).status).toBe(200);
  });

  it('knows its paired workers after a restart where it keeps them in a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'codelanes-bridge-'));
    const pairing = { file: join(folder, 'pairings.json') };
    await bridge.close();
    bridge = await TestBridge.start({ pairing });
    const worker = await PairedWorker.paired(bridge);
    await bridge.close();
    bridge = await TestBridge.start({ pairing });
    expect((await worker.at(bridge).register()).status).toBe(200);
    await rm(folder, { recursive: true });
  });
});
