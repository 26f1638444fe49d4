import { pino } from 'pino';
import { expect, it } from 'vitest';
import { MemoryStore } from '../scheduler/memory-store.js';
import { serveStore } from './testing/serve-store.js';
import { testTokens } from './testing/test-bridge.js';

class BrokenStore extends MemoryStore {
  override lanes(): Promise<never> {
    return Promise.reject(new Error('a secret of the inside'));
  }
}

it('tells a fault of its own with the id of the request, logs its cause, and goes on', async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  const { app } = await serveStore(new BrokenStore(), log);
  const headers = { authorization: `Bearer ${testTokens.admin}` };
  const answer = await app.inject({ path: '/v1/bridge/workers/any/lanes', headers });
  expect(answer.statusCode).toBe(500);
  const body = answer.json<{ code: string; error: string }>();
  expect(body.code).toBe('INTERNAL_FAULT');
  expect(body.error).toContain(String(answer.headers['x-request-id']));
  expect(answer.body).not.toContain('secret');
  expect(lines.join('')).toContain('a secret of the inside');
  expect((await app.inject('/healthz')).statusCode).toBe(200);
  await app.close();
});
