import { afterAll, beforeAll, expect, it } from 'vitest';
import { RedisServer } from '../scheduler/testing/redis-server.js';
import { TestBridge } from './testing/test-bridge.js';

let redis: RedisServer;
beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(async () => {
  await redis.stop();
});

function start(url: string | string[]): Promise<TestBridge> {
  return TestBridge.start({ store: { kind: 'redis', url } });
}

it('does not start with the addresses of a cluster where there is none, and says so', async () => {
  await expect(start([redis.url, redis.url])).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: 'The bridge cannot reach its Redis: ERR This instance has cluster support disabled.',
  });
});

it('does not start where nothing listens, and says where that is', async () => {
  await expect(start('redis://127.0.0.1:1')).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: 'The bridge cannot reach its Redis: connect ECONNREFUSED 127.0.0.1:1.',
  });
});

it('does not start where its Redis wants a password, and says so', async () => {
  await redis.ask((client) => client.config('SET', 'requirepass', 'sesame'));
  await expect(start(redis.url)).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('cannot reach its Redis: NOAUTH ') as string,
  });
});
