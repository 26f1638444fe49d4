import type { Row } from '../row.js';
import { backlog } from './backlog.js';
import { busyDay } from './busy-day.js';
import { commandOverhead, commandOverheadOfFour, commandOverheadOnRedis } from './command-overhead.js';
import { credentials } from './credentials.js';
import { cycles } from './cycles.js';
import { commandHandover, commandHandoverOnRedis, handover, handoverOnRedis } from './handover.js';
import { idle } from './idle.js';
import { kill } from './kill.js';
import { manyIdleWorkers } from './many-idle-workers.js';
import { preparedLane } from './prepared-lane.js';
import { programmatic } from './programmatic.js';
import { queueLength } from './queue-length.js';
import { proxy } from './proxy.js';
import { readFile } from './read-file.js';
import { redisWhenIdle } from './redis-when-idle.js';
import { threeRepositories } from './three-repositories.js';
import { threeRoots } from './three-roots.js';
import { twoLanes } from './two-lanes.js';

/** Every row, in the order in which a full run goes through them: the quick ones first. */
export const allRows: readonly Row[] = [
  backlog,
  queueLength,
  busyDay,
  credentials,
  readFile,
  proxy,
  handover,
  handoverOnRedis,
  commandHandover,
  commandHandoverOnRedis,
  commandOverhead,
  commandOverheadOfFour,
  commandOverheadOnRedis,
  preparedLane,
  programmatic,
  cycles,
  kill,
  idle,
  redisWhenIdle,
  manyIdleWorkers,
  threeRoots,
  threeRepositories,
  twoLanes,
];
