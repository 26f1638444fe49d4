import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { laneKey } from '@codelanes/protocol';
import { hostProcesses } from '../lanes/processes.js';
import { environmentRunFolder } from './environment-run.js';
import type { RetriedSetup } from './retries.js';
import { newestLog } from './setup-log.js';
import { readRecord, readRecords, worktreeFolder, type SetupRecord } from './setup-record.js';

/** The last run of the setup in a lane, and where it is kept. */
export interface ListedSetup {
  readonly record: SetupRecord;
  /** With the logs of its runs. */
  readonly folder: string;
  /** Undefined for an environment's own setup, which runs at each start of its worker and at no other time. */
  readonly retry?: RetriedSetup | undefined;
}

/** The last run in each lane of a state folder in which a setup has begun, whether or not its worker runs. */
export function listSetups(stateDir: string): ListedSetup[] {
  const roots = join(stateDir, 'roots');
  if (!existsSync(roots)) return [];
  return readdirSync(roots).flatMap((name) => {
    const treeState = join(roots, name);
    return [...ownSetup(treeState), ...setupsOfWorktrees(treeState)];
  });
}

function ownSetup(treeState: string): ListedSetup[] {
  const folder = environmentRunFolder(treeState);
  const record = readRecord(folder);
  return record === undefined ? [] : [{ record: asOfNow(record), folder }];
}

function setupsOfWorktrees(treeState: string): ListedSetup[] {
  return [...readRecords(treeState)].map(([worktree, record]) => ({
    record: asOfNow(record),
    folder: worktreeFolder(treeState, worktree),
    retry: { treeState, worktree },
  }));
}

export function findSetup(stateDir: string, lane: readonly string[]): ListedSetup | undefined {
  return listSetups(stateDir).find(({ record }) => laneKey(record.lane) === laneKey(lane));
}

/** What the last run said, as far as it has come. */
export function readSetupLog({ folder }: ListedSetup): string {
  return newestLog(folder) ?? '';
}

/** What the record of a worker that died in the middle says is not so any more. */
function asOfNow(record: SetupRecord): SetupRecord {
  if (record.state !== 'running' || !hostProcesses.isGone(record.worker)) return record;
  const { worker: _, ...begun } = record;
  return { ...begun, state: 'interrupted', endedAt: record.startedAt };
}
