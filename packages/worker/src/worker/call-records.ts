import { describeLane } from '@codelanes/protocol';
import type { StartRecord } from '../commands/lane-care.js';
import { StandingWorktrees } from '../lanes/lost-worktrees.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import { openLane, type OpenedLane } from './opened-lane.js';
import { RepositoriesBeneath } from './repositories-beneath.js';
import type { CommandCall } from './run-command.js';
import { checkoutsBeneath } from './served-tree.js';
import { forgetSnapshot, keepSnapshot } from './snapshot-file.js';

type RecordedCall = Pick<CommandCall, 'root' | 'tree' | 'audits' | 'assignment'>;

/** What is written of a call while something of it runs in its lane, and what is looked at around that. */
export class CallRecords {
  readonly #call: RecordedCall;
  readonly #lane: Pick<OpenedLane, 'facts' | 'identity'>;
  #beneath: RepositoriesBeneath | undefined;
  #worktrees: readonly StandingWorktrees[] = [];
  #recorded: ProcessIdentity | undefined;

  /** @param lane as admitted: it must still be that one whenever something is about to run. */
  constructor(call: RecordedCall, lane: Pick<OpenedLane, 'facts' | 'identity'>) {
    this.#call = call;
    this.#lane = lane;
  }

  /**
   * Right before something runs.
   *
   * @throws {CodelanesError} where the lane is not the one that was admitted.
   */
  verifyAgain(): void {
    const { root, audits, assignment } = this.#call;
    openLane(root, assignment.lane, this.#lane.identity).close();
    this.#beneath = RepositoriesBeneath.look(audits, assignment.lane);
    this.#worktrees = checkoutsBeneath(root, assignment.lane).map((pin) => StandingWorktrees.look(pin));
  }

  /** Audits what lies beneath the lane, and says what is lost of it, when nothing that ran there can go on. */
  async lookBeneath(wasStopped: boolean): Promise<readonly string[]> {
    const audited = (await this.#beneath?.audit(wasStopped)) ?? [];
    return [...audited, ...this.#worktrees.flatMap((standing) => standing.lost())];
  }

  locksBeneath(): readonly string[] {
    return this.#beneath?.locks() ?? [];
  }

  /** Resolves when it is on disk that this process may run now, and how to look after what it does. */
  async write({ stage, init, snapshot }: StartRecord): Promise<void> {
    const { root, tree, assignment } = this.#call;
    if (snapshot !== undefined) await keepSnapshot(tree.stateDir, snapshot);
    if (stage !== 'repair') await this.#beneath?.keep();
    if (stage !== 'command') return this.name(init);
    this.#recorded = init;
    await root.journal.startCommand({ call: assignment.callId, lane: assignment.lane, process: init });
  }

  /** Resolves when the journal names this process for the call, so that whoever comes after a crash ends it first. */
  async name(init: ProcessIdentity): Promise<void> {
    if (this.#recorded?.pid === init.pid && this.#recorded.startTime === init.startTime) return;
    const { root, assignment } = this.#call;
    this.#recorded = init;
    await root.journal.continueCommand({ call: assignment.callId, lane: assignment.lane, process: init });
  }

  /** Nothing ran, or all that did was looked after: no audit is owed. */
  settled(): void {
    if (this.#lane.facts.kind === 'checkout') forgetSnapshot(this.#call.tree.stateDir);
    this.#beneath?.forget();
  }

  /** Closes the lane; with processes, until those are gone. */
  async quarantine(reason: string, processes: readonly ProcessIdentity[]): Promise<void> {
    const { root, assignment } = this.#call;
    const sentence = `Call ${assignment.callId} left ${describeLane(assignment.lane)} in doubt. ${reason}`;
    await root.quarantine.add(assignment.lane, sentence, [...processes]);
  }
}
