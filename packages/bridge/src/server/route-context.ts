import { RateLimit } from '../auth/rate-limit.js';
import { StaticTokens } from '../auth/static-tokens.js';
import { CallWatch } from '../dispatch/call-watch.js';
import { Dispatcher } from '../dispatch/dispatcher.js';
import { WorkerPolls } from '../dispatch/worker-polls.js';
import { BridgeMetrics } from '../metrics/bridge-metrics.js';
import type { RouteContext } from '../routes/context.js';
import type { CompiledBridgeOptions } from './bridge-options.js';
import type { OpenedStore } from './open-store.js';

/** The parts of one bridge, put together over its store. */
export function routeContextOf(
  options: CompiledBridgeOptions,
  { store, durable }: OpenedStore,
): RouteContext {
  const { tokens, routes, scheduler, settlementGraceMs, rateLimit } = options;
  const metrics = new BridgeMetrics();
  return {
    store,
    durable,
    tokens: new StaticTokens(tokens),
    dispatcher: new Dispatcher(store, { leaseTtlMs: scheduler.leaseTtlMs, settlementGraceMs }, metrics),
    polls: new WorkerPolls(store),
    watch: new CallWatch(store),
    metrics,
    rateLimit: rateLimit === undefined ? undefined : new RateLimit(rateLimit),
    settings: routes,
  };
}
