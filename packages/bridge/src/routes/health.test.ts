import { expect, it } from 'vitest';
import { CodelanesError } from '@codelanes/protocol';
import { MemoryStore } from '../scheduler/memory-store.js';
import { serveStore } from '../server/testing/serve-store.js';

class StoreInTrouble extends MemoryStore {
  answer: () => Promise<void> = () => Promise.resolve();

  override ready(): Promise<void> {
    return this.answer();
  }
}

async function serve() {
  const store = new StoreInTrouble();
  return { store, ...(await serveStore(store)) };
}

it('is ready while its store can be reached, and healthy all the time', async () => {
  const { app, store } = await serve();
  expect((await app.inject('/readyz')).json()).toEqual({ ready: true });
  store.answer = () => Promise.reject(new CodelanesError('STORE_UNAVAILABLE', 'No Redis.'));
  const refused = await app.inject('/readyz');
  expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([503, 'STORE_UNAVAILABLE']);
  // A store that never answers is not waited for.
  store.answer = () => new Promise(() => undefined);
  expect((await app.inject('/readyz')).statusCode).toBe(503);
  expect((await app.inject('/healthz')).statusCode).toBe(200);
  await app.close();
});

it('is not ready from the moment on at which it stops', async () => {
  const { app, context } = await serve();
  await context.dispatcher.stop(0);
  const refused = await app.inject('/readyz');
  expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([503, 'BRIDGE_STOPPING']);
  expect((await app.inject('/healthz')).statusCode).toBe(200);
  await app.close();
});
