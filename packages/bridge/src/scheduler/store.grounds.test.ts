import { describe, expect, it } from 'vitest';
import { storesUnderTest } from './testing/stores-under-test.js';
import { WorkerAtStore } from './testing/worker-at-store.js';

describe.each(storesUnderTest)('$name: a call that was let in by what its worker can do', ({ make }) => {
  it('is entered while that is so, and refused as outdated after a change', async () => {
    const { store, clock } = await make();
    const worker = new WorkerAtStore({ store, clock });
    await worker.register();
    const seen = await store.worker(worker.workerId);
    if (seen === undefined) throw new Error('the worker has registered');
    const grounds = { capabilitiesId: seen.capabilitiesId, pairing: '' };
    const lane = ['primary'] as const;
    expect(await store.submit({ ...worker.newCall(lane), grounds })).toMatchObject({ ok: true });
    await worker.register({ capabilities: { ...seen.capabilities, sharedReads: false } });
    const refused = { ...worker.newCall(lane), grounds };
    expect(await store.submit(refused)).toMatchObject({ ok: false, isOutdated: true });
    expect(await store.call(refused.callId)).toBeUndefined();
    const now = await store.worker(worker.workerId);
    const anew = { capabilitiesId: now?.capabilitiesId ?? '', pairing: '' };
    expect(await store.submit({ ...refused, grounds: anew })).toMatchObject({ ok: true });
  });
});
