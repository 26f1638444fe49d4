import type { Logger } from 'pino';
import { removeFile } from '../files/write.js';
import { FileRefusal } from '../files/refusal.js';
import { hostProcesses } from '../lanes/processes.js';
import { recover } from '../lanes/recovery.js';
import type { WriteRecord } from '../lanes/journal-record.js';
import { openLane } from './opened-lane.js';
import type { ServedRoot } from './served-root.js';

/**
 * Brings a root into order after whatever ended the last worker: kills what it left, and
 * removes temporary files of writes that were cut short. Comes before anything else. What cannot be proven gone within that many milliseconds is quarantined.
 */
export async function recoverRoot(root: ServedRoot, goneWithinMs: number, log: Logger): Promise<void> {
  const { journal, quarantine, lane } = root;
  const recovered = await recover({
    journal,
    quarantine,
    processes: hostProcesses,
    rootLane: lane,
    goneWithinMs,
  });
  const interrupted = recovered.commands.map(({ call }) => call);
  if (interrupted.length > 0) {
    log.warn({ workspace: root.id, interrupted }, 'commands of an earlier worker were ended');
  }
  for (const write of recovered.writes) {
    removeTemporary(root, write);
    await journal.end(write.call);
  }
}

function removeTemporary(root: ServedRoot, { lane, path, temporary }: WriteRecord): void {
  const worktree = lane.find((segment) => segment.startsWith('worktree:'))?.slice('worktree:'.length);
  try {
    const opened = openLane(root, { workspaceId: root.id, worktree });
    try {
      removeFile(opened.directory, [...path.split('/').slice(0, -1), temporary].join('/'));
    } finally {
      opened.close();
    }
  } catch (error) {
    // A lane that is gone took its temporary file along; one that does not verify is not to be touched.
    if (!(error instanceof FileRefusal) && !(error instanceof Error && 'code' in error)) throw error;
  }
}
