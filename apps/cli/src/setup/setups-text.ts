import { describeLane } from '@codelanes/protocol';
import type { SetupRecord } from '@codelanes/worker';
import { durationText } from '../lanes/duration-text.js';
import { table } from '../table/table.js';
import { plainText } from '../terminal/plain-text.js';

/** The last run of the setup in each lane and of each environment, for people; `now` in milliseconds since 1970. */
export function setupsText(records: readonly SetupRecord[], now: number): string {
  if (records.length === 0) return 'No lane has been set up yet.';
  const rows = records.map((record) => [
    describeLane(record.lane),
    record.state,
    durationText((record.state === 'running' ? now : record.endedAt) - record.startedAt),
    new Date(record.startedAt).toISOString(),
    whatToKnow(record),
  ]);
  // Programs that were left running bear names of the lane's own choice.
  return plainText(table(['LANE', 'STATE', 'TOOK', 'BEGAN', 'WHAT TO KNOW'], rows).join('\n'));
}

function whatToKnow(record: SetupRecord): string {
  const where = describeLane(record.lane);
  const isEnvironment = record.lane.length === 1;
  const again = isEnvironment ? 'start the worker again' : `"codelanes setup retry ${where}"`;
  switch (record.state) {
    case 'running':
      return `see it with "codelanes setup log ${where}"`;
    case 'interrupted':
      return `it was stopped, and is run again ${isEnvironment ? 'when its worker starts' : 'before the next command'}`;
    case 'faulted':
      return `${record.reason} It is tried again ${isEnvironment ? 'when its worker starts' : 'before the next command'}`;
    case 'ready':
      return record.leftRunning.length === 0
        ? ''
        : `it left running, which was ended: ${record.leftRunning.join(', ')}`;
    case 'failed':
      return `${record.reason} See why with "codelanes setup log ${where}", then ${again}`;
  }
}
