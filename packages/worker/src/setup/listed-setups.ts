import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { laneKey } from '@codelanes/protocol';
import { hostProcesses } from '../lanes/processes.js';
import { newestLog } from './setup-log.js';
import { readRecords, worktreeFolder, type SetupRecord } from './setup-record.js';

/** The last run of the setup in a lane, and where it is kept. */
export interface ListedSetup {
  readonly record: SetupRecord;
  readonly worktree: string;
  /** State folder of the repository. */
  readonly treeState: string;
}

/** The last run in each lane of a state folder in which a setup has begun, whether or not its worker runs. */
export function listSetups(stateDir: string): ListedSetup[] {
  const roots = join(stateDir, 'roots');
  if (!existsSync(roots)) return [];
  return readdirSync(roots).flatMap((name) => {
    const treeState = join(roots, name);
    return [...readRecords(treeState)].map(([worktree, record]) => ({
      record: asOfNow(record),
      worktree,
      treeState,
    }));
  });
}

export function findSetup(stateDir: string, lane: readonly string[]): ListedSetup | undefined {
  return listSetups(stateDir).find(({ record }) => laneKey(record.lane) === laneKey(lane));
}

/** What the last run said, as far as it has come. */
export function readSetupLog({ treeState, worktree }: ListedSetup): string {
  return newestLog(worktreeFolder(treeState, worktree)) ?? '';
}

/** What the record of a worker that died in the middle says is not so any more. */
function asOfNow(record: SetupRecord): SetupRecord {
  if (record.state !== 'running' || !hostProcesses.isGone(record.worker)) return record;
  const { worker: _, ...begun } = record;
  return { ...begun, state: 'interrupted', endedAt: record.startedAt };
}
