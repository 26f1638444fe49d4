import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import { MemoryRequestNames } from '../../dispatch/request-names.js';
import { MemoryPairingStore } from '../../pairing/memory-pairing-store.js';
import type { SchedulerStore } from '../../scheduler/store.js';
import { compileBridgeOptions } from '../bridge-options.js';
import { createHttpServer } from '../http-server.js';
import { openTokens } from '../open-tokens.js';
import { routeContextOf } from '../route-context.js';
import { testTokens } from './test-bridge.js';

/** The HTTP side of a bridge over a store of the test's own, which does not listen. */
export async function serveStore(store: SchedulerStore, log: FastifyBaseLogger = pino({ level: 'silent' })) {
  const { caller, admin, worker } = testTokens;
  const options = compileBridgeOptions({ tokens: { callers: [caller], admin, worker } });
  const tokens = await openTokens(options, log);
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
