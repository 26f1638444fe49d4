import type { ClosedSince } from '../connection/messages.js';
import { environmentRunFolder } from '../setup/environment-run.js';
import { readRecord } from '../setup/setup-record.js';
import type { ServedRoot } from './served-root.js';

export interface ClosedLanesSetting {
  /** Every root that the worker holds. */
  readonly roots: readonly ServedRoot[];
  /** Those that are offered. */
  readonly offered: readonly ServedRoot[];
  /** Worktrees whose setup has failed. */
  readonly failedSetups: readonly ClosedSince[];
}

/** All lanes in which the worker refuses commands now, and why. */
export function closedLanes({ roots, offered, failedSetups }: ClosedLanesSetting): readonly ClosedSince[] {
  const quarantined = roots
    .flatMap(({ quarantine }) => quarantine.list())
    .map(({ lane, reason, since }) => ({ lane, cause: 'quarantine' as const, reason, since }));
  const notOffered = roots.filter((root) => !offered.includes(root)).flatMap(ownFailedSetup);
  return [...quarantined, ...notOffered, ...failedSetups];
}

/** The setup of an environment runs before it is offered, so what its record says is of this worker's start. */
function ownFailedSetup({ lane, stateDir }: ServedRoot): ClosedSince[] {
  const record = readRecord(environmentRunFolder(stateDir));
  if (record?.state !== 'failed') return [];
  return [{ lane, cause: 'failed_setup', reason: record.reason, since: record.endedAt }];
}
