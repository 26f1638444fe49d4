import { pino } from 'pino';
import { expect, it } from 'vitest';
import { MemoryStore } from '../scheduler/memory-store.js';
import { compileBridgeOptions } from './bridge-options.js';
import { createHttpServer } from './http-server.js';
import { routeContextOf } from './route-context.js';
import { testTokens } from './testing/test-bridge.js';

class BrokenStore extends MemoryStore {
  override lanes(): Promise<never> {
    return Promise.reject(new Error('a secret of the inside'));
  }
}

it('tells a fault of its own with the id of the request, logs its cause, and goes on', async () => {
  const { caller, admin, worker } = testTokens;
  const options = compileBridgeOptions({ tokens: { callers: [caller], admin, worker } });
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  const app = createHttpServer(
    routeContextOf(options, { store: new BrokenStore(), durable: undefined }),
    log,
  );
  const headers = { authorization: `Bearer ${admin}` };
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
