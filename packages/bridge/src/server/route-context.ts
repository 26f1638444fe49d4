import { StaticTokens } from '../auth/static-tokens.js';
import { CallWatch } from '../dispatch/call-watch.js';
import { Dispatcher } from '../dispatch/dispatcher.js';
import { WorkerPolls } from '../dispatch/worker-polls.js';
import { WorkerRoster } from '../dispatch/worker-roster.js';
import type { RouteContext } from '../routes/context.js';
import type { SchedulerStore } from '../scheduler/store.js';
import type { CompiledBridgeOptions } from './bridge-options.js';

/** The parts of one bridge, put together over its store. */
export function routeContextOf(options: CompiledBridgeOptions, store: SchedulerStore): RouteContext {
  const { tokens, routes, scheduler, settlementGraceMs } = options;
  return {
    store,
    tokens: new StaticTokens(tokens),
    dispatcher: new Dispatcher(store, { leaseTtlMs: scheduler.leaseTtlMs, settlementGraceMs }),
    polls: new WorkerPolls(store),
    watch: new CallWatch(store),
    roster: new WorkerRoster(),
    settings: routes,
  };
}
