export type { Bridge } from './server/bridge.js';
export { startBridge } from './server/bridge.js';
export type { BridgeOptions } from './server/bridge-options.js';
export type { LaneRouter } from './dispatch/lane-routing.js';
export type { ErrorBody } from './routes/error-reply.js';
export type {
  DurableRequests,
  DurableView,
  NewDurableRequest,
  SubmittedRequest,
} from './scheduler/durable-requests.js';
export type {
  CallEnd,
  CallTiming,
  Fetched,
  NodeCapacity,
  OwnedCallView,
  PausedCall,
  Refused,
  Registered,
  Registration,
  Renewed,
  Resumed,
  SchedulerStore,
  Settled,
  Submitted,
  WithdrawReason,
  Withdrawn,
  RegistrationFence,
  WorkerFence,
  WorkerLoad,
  WorkerView,
} from './scheduler/store.js';
export type { Clock } from './scheduler/clock.js';
export type { NewCall, NewToolCall } from './scheduler/stored-call.js';
export type { SchedulerSettings } from './scheduler/scheduler-settings.js';
export { defaultSchedulerSettings } from './scheduler/scheduler-settings.js';
export { ManualClock } from './scheduler/manual-clock.js';
export { MemoryStore } from './scheduler/memory-store.js';
export type { RedisStoreOptions } from './scheduler/redis-store.js';
export { RedisStore } from './scheduler/redis-store.js';
export { SystemClock } from './scheduler/system-clock.js';
