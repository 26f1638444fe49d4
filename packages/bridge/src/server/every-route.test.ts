import { pino } from 'pino';
import { expect, it } from 'vitest';
import { compileBridgeOptions } from './bridge-options.js';
import { createHttpServer } from './http-server.js';
import { openStore } from './open-store.js';
import { openTokens } from './open-tokens.js';
import { routeContextOf } from './route-context.js';
import { everyRoute } from './testing/every-route.js';
import { testTokens } from './testing/test-bridge.js';

it('each route that is served has one request in the list that attacks it', async () => {
  const { caller, admin, worker } = testTokens;
  const options = compileBridgeOptions({ tokens: { callers: [caller], admin, worker } });
  const log = pino({ level: 'silent' });
  const opened = await openStore(options.store, options.scheduler, options.pairing, log);
  const context = routeContextOf(
    options,
    await openTokens(options, log, new AbortController().signal),
    opened,
  );
  const app = createHttpServer(context, log, { tls: undefined, requestTimeoutMs: options.requestTimeoutMs });
  const found = new Set<string>();
  app.addHook('onRequest', ({ method, routeOptions: { url } }, _reply, done) => {
    if (url !== undefined) found.add(`${method} ${url}`);
    done();
  });
  for (const { method, path } of everyRoute) await app.inject({ method, url: path });
  const served = [...app.printRoutes().matchAll(/\(([A-Z, ]+)\)/g)].flatMap(([, methods]) =>
    methods?.split(', '),
  );
  await app.close();
  await opened.store.close();
  expect(found.size).toBe(served.length);
  expect(everyRoute).toHaveLength(served.length);
});
