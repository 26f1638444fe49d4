import type { Row } from '../row.js';
import { backlog } from './backlog.js';
import { commandOverhead, commandOverheadOfFour } from './command-overhead.js';
import { commandHandover, handover } from './handover.js';
import { idle } from './idle.js';
import { kill } from './kill.js';
import { readFile } from './read-file.js';
import { threeRoots } from './three-roots.js';
import { twoLanes } from './two-lanes.js';

/** Every row, in the order in which a full run goes through them: the quick ones first. */
export const allRows: readonly Row[] = [
  backlog,
  readFile,
  handover,
  commandHandover,
  commandOverhead,
  commandOverheadOfFour,
  kill,
  idle,
  threeRoots,
  twoLanes,
];
