import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { dropGitlinks, type DroppedGitlinks } from '../commands/drop-gitlinks.js';
import { auditCheckout } from '../sandbox/audit/audit.js';
import { placeOfGitlink, type Gitlink } from '../sandbox/audit/gitlinks.js';
import type { Snapshot } from '../sandbox/audit/snapshot.js';
import { laneTop } from '../sandbox/lane-facts.js';
import { openLaneSandbox } from '../sandbox/lane-sandbox.js';
import { laneFolders } from '../sandbox/worker-folders.js';
import { openLane } from './opened-lane.js';
import { homeOwner, type ServedRoot } from './served-root.js';
import { treesAround, type ServedTree } from './served-tree.js';
import { forgetSnapshot, keptSnapshot } from './snapshot-file.js';
import type { CommandSettings } from './wall.js';

const underWay = new WeakMap<ServedTree, Promise<readonly string[]>>();

export interface AuditSetting {
  readonly root: ServedRoot;
  /** Undefined on a machine that cannot wall. */
  readonly commands: CommandSettings | undefined;
  readonly log: Logger;
}

/**
 * Makes up for the audits that are owed of the trees that a lane lies in or has a part of for itself. Only when
 * nothing runs in the lane; costs a look at the disk for each tree of which none is owed.
 */
export async function settleOwedAudits(setting: AuditSetting, lane: readonly string[]): Promise<void> {
  for (const tree of treesAround(setting.root, lane)) await settleOwedAudit(setting, tree);
}

/**
 * Makes up for the audit of a checkout after a command that had all of it, if one is owed; returns what was put
 * right. Only when nothing of that command runs any more. What cannot be put right quarantines the tree.
 */
export async function settleOwedAudit(setting: AuditSetting, tree: ServedTree): Promise<readonly string[]> {
  const snapshot = keptSnapshot(tree.stateDir);
  if (snapshot === undefined) return [];
  const audit = underWay.get(tree) ?? auditNow(setting, tree, snapshot);
  underWay.set(tree, audit);
  try {
    return await audit;
  } finally {
    underWay.delete(tree);
  }
}

async function auditNow(
  setting: AuditSetting,
  tree: ServedTree,
  snapshot: Snapshot,
): Promise<readonly string[]> {
  const { root, log } = setting;
  const audited = auditCheckout(snapshot);
  const doubts = audited.quarantine === undefined ? [] : [audited.quarantine];
  const notices = [...audited.notices];
  if (audited.strayGitlinks.length > 0) {
    const { dropped, sentence } = await drop(setting, tree, audited.strayGitlinks);
    (dropped ? notices : doubts).push(sentence);
  }
  for (const notice of notices) log.warn({ workspace: root.id }, notice);
  if (doubts.length > 0) await root.quarantine.add(tree.lane, doubts.join(' '), []);
  forgetSnapshot(tree.stateDir);
  return [...notices, ...doubts];
}

async function drop(
  { root, commands }: AuditSetting,
  tree: ServedTree,
  gitlinks: readonly Gitlink[],
): Promise<DroppedGitlinks> {
  if (commands === undefined) {
    return {
      dropped: false,
      sentence: `Take these out of the index by hand, since no Git can be walled here: ${gitlinks.map(placeOfGitlink).join(', ')}.`,
    };
  }
  const { machine, shared } = commands(root, tree);
  const lane = openLane(root, tree.lane);
  const sandbox = openLaneSandbox(lane.facts, {
    machine,
    folders: laneFolders(shared, homeOwner(root, tree.lane, lane)),
    workingDirectory: laneTop(lane.facts),
  });
  const call = randomBytes(16).toString('hex');
  try {
    return await dropGitlinks({
      gitlinks,
      sandbox,
      realGit: shared.realGit,
      journalId: root.journal.id,
      journalStart: (init) => root.journal.startCommand({ call, lane: tree.lane, process: init }),
    });
  } finally {
    await root.journal.end(call);
    sandbox.close();
    lane.close();
  }
}
