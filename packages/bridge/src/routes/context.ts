import type { ClientGeneration } from '@codelanes/protocol';
import type { RateLimit } from '../auth/rate-limit.js';
import type { Tokens } from '../auth/tokens.js';
import type { CallWatch } from '../dispatch/call-watch.js';
import type { Continuations } from '../dispatch/continuations.js';
import type { Dispatcher } from '../dispatch/dispatcher.js';
import type { LaneRouting } from '../dispatch/lane-routing.js';
import type { WorkerPolls } from '../dispatch/worker-polls.js';
import type { WorkerSights } from '../dispatch/worker-sights.js';
import type { BridgeMetrics } from '../metrics/bridge-metrics.js';
import type { Pairings } from '../pairing/pairings.js';
import type { DurableRequests } from '../scheduler/durable-requests.js';
import type { SchedulerStore } from '../scheduler/store.js';

/** What routes work with; one per bridge. */
export interface RouteContext {
  readonly store: SchedulerStore;
  /** Left out where the store offers none. */
  readonly durable: DurableRequests | undefined;
  readonly tokens: Tokens;
  readonly pairings: Pairings;
  readonly dispatcher: Dispatcher;
  readonly laneRouting: LaneRouting;
  readonly continuations: Continuations;
  readonly polls: WorkerPolls;
  readonly sights: WorkerSights;
  readonly watch: CallWatch;
  readonly metrics: BridgeMetrics;
  /** Left out where the operator wants none. */
  readonly rateLimit: RateLimit | undefined;
  readonly settings: RouteSettings;
}

export interface RouteSettings {
  /** What clients that do not say so themselves know. */
  readonly clientGeneration: ClientGeneration;
  /** Most commands that one worker may run at once, whatever it offers. */
  readonly slots: number;
  /** File tools that one worker may run at once. */
  readonly filePool: number;
  readonly leaseTtlMs: number;
  readonly renewEveryMs: number;
  /** Who may read the metrics: the administrator, everybody, or nobody. */
  readonly metrics: 'admin' | 'open' | 'off';
  /** What callers may expect behind this base URL. */
  readonly profile: 'stateful' | 'default';
  /** Whether every pairing has to say for whom the worker works. */
  readonly requireBinding: boolean;
}
