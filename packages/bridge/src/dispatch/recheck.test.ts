import { callViewSchema } from '@codelanes/protocol';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MemoryStore } from '../scheduler/memory-store.js';
import { defaultSchedulerSettings } from '../scheduler/scheduler-settings.js';
import type { Follower, Progress, RegistrationFence } from '../scheduler/store.js';
import { commandIn, execute } from '../server/testing/requests.js';
import { listenOver } from '../server/testing/serve-store.js';
import type { TestBridge } from '../server/testing/test-bridge.js';
import { TestWorker } from '../server/testing/test-worker.js';

vi.mock('./recheck.js', () => ({ recheckMs: 20 }));

/** Longer than any test takes. */
const patience = 600_000;

/** Loses every ring, and counts how often it is asked what a ring would have told. */
class SilentStore extends MemoryStore {
  readonly looks = { fetch: 0, progress: 0, call: 0 };

  override onWorker(): () => void {
    return () => undefined;
  }

  override onCall(): () => void {
    return () => undefined;
  }

  override follow(callId: string, workerId: string): Follower {
    const follower = super.follow(callId, workerId, () => undefined);
    const progress = (): Promise<Progress | undefined> => {
      this.looks.progress += 1;
      return follower.progress();
    };
    return {
      progress,
      stop: () => {
        follower.stop();
      },
    };
  }

  override fetch(worker: RegistrationFence) {
    this.looks.fetch += 1;
    return super.fetch(worker);
  }

  override call(callId: string) {
    this.looks.call += 1;
    return super.call(callId);
  }

  /** Resolves once it was asked again and again, although nothing has changed. */
  async again(asked: keyof SilentStore['looks']): Promise<void> {
    const before = this.looks[asked];
    await vi.waitFor(() => {
      if (this.looks[asked] < before + 3) throw new Error(`nobody asks for ${asked} again`);
    }, 30_000);
  }
}

let store: SilentStore;
let bridge: TestBridge;
let worker: TestWorker;

beforeEach(async () => {
  store = new SilentStore({ ...defaultSchedulerSettings, leaseTtlMs: patience, fetchWithinMs: patience });
  bridge = await listenOver(store);
  worker = await TestWorker.registered(bridge);
});

afterEach(async () => {
  await bridge.close();
});

it('a poll that nothing wakes finds what came meanwhile', async () => {
  const polled = worker.next();
  await store.again('fetch');
  const answer = execute(bridge, commandIn('a'));
  await worker.settleCommand(await polled);
  expect((await answer).status).toBe(200);
});

it('a caller whom nobody wakes is answered', async () => {
  const answer = execute(bridge, commandIn('a'));
  await store.again('progress');
  await worker.settleCommand(await worker.next());
  expect((await answer).status).toBe(200);
});

it('a watch that nothing wakes tells of the next change', async () => {
  const answer = execute(bridge, commandIn('a'));
  const assignment = await worker.next();
  const path = `/v1/calls/${assignment.callId}`;
  const seen = callViewSchema.parse((await bridge.send(path, { as: 'caller' })).json);
  const watched = bridge.send(`${path}?after=${seen.revision}&waitMs=20000`, { as: 'caller' });
  await store.again('call');
  await worker.settleCommand(assignment);
  expect((await watched).json).toMatchObject({ state: 'settled' });
  await answer;
});
