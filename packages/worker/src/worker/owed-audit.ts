import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { dropGitlinks } from '../commands/drop-gitlinks.js';
import { auditCheckout } from '../sandbox/audit/audit.js';
import { placeOfGitlink, type Gitlink } from '../sandbox/audit/gitlinks.js';
import type { Snapshot } from '../sandbox/audit/snapshot.js';
import { laneTop } from '../sandbox/lane-facts.js';
import { openLaneSandbox } from '../sandbox/lane-sandbox.js';
import { laneFolders } from '../sandbox/worker-folders.js';
import { openLane } from './opened-lane.js';
import type { CommandSetting } from './run-command.js';
import { homeKey, type ServedRoot } from './served-root.js';
import { forgetSnapshot, keptSnapshot } from './snapshot-file.js';

const underWay = new WeakMap<ServedRoot, Promise<void>>();

/**
 * Makes up for the audit of a checkout command that was cut short, if one is owed. Only when nothing of that
 * command runs any more; costs a look at the disk where none is owed. What cannot be put right quarantines the
 * root.
 */
export async function settleOwedAudit(
  root: ServedRoot,
  setting: CommandSetting | undefined,
  log: Logger,
): Promise<void> {
  const snapshot = keptSnapshot(root.stateDir);
  if (snapshot === undefined) return;
  const audit = underWay.get(root) ?? auditNow(root, snapshot, setting, log);
  underWay.set(root, audit);
  try {
    await audit;
  } finally {
    underWay.delete(root);
  }
}

async function auditNow(
  root: ServedRoot,
  snapshot: Snapshot,
  setting: CommandSetting | undefined,
  log: Logger,
): Promise<void> {
  const audited = auditCheckout(snapshot);
  for (const notice of audited.notices) log.warn({ workspace: root.id }, notice);
  const doubts = audited.quarantine === undefined ? [] : [audited.quarantine];
  if (audited.strayGitlinks.length > 0)
    doubts.push(...(await drop(root, setting, audited.strayGitlinks, log)));
  if (doubts.length > 0) await root.quarantine.add(root.lane, doubts.join(' '), []);
  forgetSnapshot(root.stateDir);
}

async function drop(
  root: ServedRoot,
  setting: CommandSetting | undefined,
  gitlinks: readonly Gitlink[],
  log: Logger,
): Promise<string[]> {
  if (setting === undefined) {
    return [
      `Take these out of the index by hand, since no Git can be walled here: ${gitlinks.map(placeOfGitlink).join(', ')}.`,
    ];
  }
  const { machine, shared } = setting;
  const lane = openLane(root, { workspaceId: root.id });
  const sandbox = openLaneSandbox(lane.facts, {
    machine,
    folders: laneFolders(shared, homeKey(root, root.lane)),
    workingDirectory: laneTop(lane.facts),
  });
  const call = randomBytes(16).toString('hex');
  try {
    const { dropped, sentence } = await dropGitlinks({
      gitlinks,
      sandbox,
      realGit: shared.realGit,
      journalId: root.journal.id,
      journalStart: (init) => root.journal.startCommand({ call, lane: root.lane, process: init }),
    });
    log.warn({ workspace: root.id }, sentence);
    return dropped ? [] : [sentence];
  } finally {
    await root.journal.end(call);
    sandbox.close();
    lane.close();
  }
}
