import type { Logger } from 'pino';
import { removeFile } from '../files/write.js';
import { FileRefusal } from '../files/refusal.js';
import { hostProcesses } from '../lanes/processes.js';
import { recover } from '../lanes/recovery.js';
import type { WriteRecord } from '../lanes/journal-record.js';
import { removeScriptFolders } from '../programmatic/script-folder.js';
import { openLane } from './opened-lane.js';
import { scriptsFolder, type ServedRoot } from './served-root.js';
import { clearStaleLock } from './stale-lock.js';
import { sweepRefs } from './swept-tree.js';

/**
 * Brings a root into order after whatever ended the last worker: kills what it left, clears the locks of Git
 * that died with it, and removes temporary files of writes that were cut short. Comes before anything else.
 * What cannot be proven gone within that many milliseconds is quarantined.
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
    for (const tree of [root, ...root.repositories]) {
      for (const notice of sweepRefs(tree).notices) log.warn({ workspace: root.id }, notice);
    }
  }
  for (const command of recovered.commands) {
    if (quarantine.blocks(command.lane) === undefined) clearStaleLock(root, command.lane);
  }
  await removeScriptFolders(scriptsFolder(root));
  for (const write of recovered.writes) {
    removeTemporary(root, write);
    await journal.end(write.call);
  }
}

function removeTemporary(root: ServedRoot, { lane, path, temporary }: WriteRecord): void {
  try {
    const opened = openLane(root, lane);
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
