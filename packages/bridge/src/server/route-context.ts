import { RateLimit } from '../auth/rate-limit.js';
import type { Tokens } from '../auth/tokens.js';
import { CallWatch } from '../dispatch/call-watch.js';
import { Continuations } from '../dispatch/continuations.js';
import { Dispatcher } from '../dispatch/dispatcher.js';
import { LaneRouting } from '../dispatch/lane-routing.js';
import { RevokedWorkers } from '../dispatch/revoked-workers.js';
import { WorkerPolls } from '../dispatch/worker-polls.js';
import { WorkerSights } from '../dispatch/worker-sights.js';
import { BridgeMetrics } from '../metrics/bridge-metrics.js';
import { Pairings } from '../pairing/pairings.js';
import type { RouteContext } from '../routes/context.js';
import type { CompiledBridgeOptions } from './bridge-options.js';
import type { OpenedStore } from './open-store.js';

/** The parts of one bridge, put together over its store. */
export function routeContextOf(
  options: CompiledBridgeOptions,
  tokens: Tokens,
  { store, durable, pairings: pairingStore, names }: OpenedStore,
): RouteContext {
  const { routes, scheduler, settlementGraceMs, rateLimit, laneRouter } = options;
  const metrics = new BridgeMetrics();
  store.onLoss((loss) => {
    metrics.lost(loss);
  });
  const pairings = new Pairings(pairingStore);
  const times = { leaseTtlMs: scheduler.leaseTtlMs, settlementGraceMs };
  const dispatcher = new Dispatcher(store, times, new RevokedWorkers(pairings));
  return {
    store,
    durable,
    tokens,
    pairings,
    dispatcher,
    continuations: new Continuations(store, dispatcher, names),
    laneRouting: new LaneRouting(laneRouter),
    polls: new WorkerPolls(store),
    sights: new WorkerSights(store, pairings),
    watch: new CallWatch(store),
    metrics,
    rateLimit: rateLimit === undefined ? undefined : new RateLimit(rateLimit),
    settings: routes,
  };
}
