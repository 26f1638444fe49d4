import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import { MemoryRequestNames } from '../../dispatch/request-names.js';
import { MemoryPairingStore } from '../../pairing/memory-pairing-store.js';
import type { SchedulerStore } from '../../scheduler/store.js';
import { compileBridgeOptions, type BridgeOptions } from '../bridge-options.js';
import { createHttpServer } from '../http-server.js';
import { openTokens } from '../open-tokens.js';
import { routeContextOf } from '../route-context.js';
import { TestBridge, testTokens } from './test-bridge.js';

/** The HTTP side of a bridge over a store of the test's own, which does not listen. */
export async function serveStore(
  store: SchedulerStore,
  log: FastifyBaseLogger = pino({ level: 'silent' }),
  changes: Partial<BridgeOptions> = {},
) {
  const { caller, admin, worker } = testTokens;
  const options = compileBridgeOptions({ tokens: { callers: [caller], admin, worker }, ...changes });
  const tokens = await openTokens(options, log, new AbortController().signal);
  const pairings = await MemoryPairingStore.open();
  const context = routeContextOf(options, tokens, {
    store,
    durable: undefined,
    pairings,
    names: new MemoryRequestNames(),
  });
  const how = { tls: undefined, requestTimeoutMs: options.requestTimeoutMs };
  return { app: createHttpServer(context, log, how), context };
}

/** A bridge that listens over a store of the test's own, such as one on a clock that the test moves. */
export async function listenOver(
  store: SchedulerStore,
  changes: Partial<BridgeOptions> = {},
): Promise<TestBridge> {
  const { app, context } = await serveStore(store, undefined, changes);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const close = async () => {
    await context.dispatcher.stop(0);
    context.polls.stop();
    context.watch.stop();
    await app.close();
    await store.close();
  };
  return TestBridge.of({ url, port: Number(new URL(url).port), close });
}
