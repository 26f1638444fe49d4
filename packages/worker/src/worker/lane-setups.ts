import { CodelanesError, describeLane, laneKey, laneSchema } from '@codelanes/protocol';
import type { Lane, Report, SetupResult } from '@codelanes/protocol';
import type { Logger } from 'pino';
import type { ClosedSince } from '../connection/messages.js';
import { worktreeMark } from '../lanes/worktree-mark.js';
import { worktreeBirths } from '../lanes/worktrees.js';
import { watchRetries } from '../setup/retries.js';
import { runSetup, type SetupRun } from '../setup/run-setup.js';
import type { Readiness, SetupStates, VerifiedWorktree } from '../setup/setup-states.js';
import { openLane, type OpenedLane } from './opened-lane.js';
import { runWalled, type CommandCall, type CommandSetting } from './run-command.js';
import type { ServedRoot } from './served-root.js';
import { repositoriesBeneath, repositoryOf, type ServedRepository } from './served-tree.js';
import { emptySubmodulesNotice, failureText, faultText, leftRunningNotice } from './setup-sentences.js';

/** Bytes of a setup's output by which it is judged; its log keeps more. */
const judgedOutputBytes = 64 * 1024;

/** A command has reached a lane whose setup has yet to run: it keeps its place and is offered again. */
export class LaneUnready extends Error {
  override readonly name = 'LaneUnready';
  readonly lane: Lane;
  readonly timeoutMs: number;

  constructor(lane: Lane, timeoutMs: number) {
    super(`The setup of ${describeLane(lane)} has yet to run.`);
    this.lane = lane;
    this.timeoutMs = timeoutMs;
  }

  /** What makes the bridge ask for the setup ahead of the lane's calls. */
  get report(): Report {
    return { state: 'unready', lane: this.lane, timeoutMs: this.timeoutMs };
  }
}

/** A worktree lane of a repository that has a setup. */
interface LaneWithSetup {
  readonly repository: ServedRepository;
  readonly states: SetupStates;
  readonly worktree: VerifiedWorktree;
}

export interface LaneSetupsOptions {
  readonly roots: readonly ServedRoot[];
  readonly report: (report: Report) => void;
  /** Told whenever other setups may have failed than before. */
  readonly onFailures: () => void;
  readonly log: Logger;
}

/** The setups of the lanes of a worker: what a command may rely on, and when the bridge is to ask for a run. */
export class LaneSetups {
  readonly #options: LaneSetupsOptions;
  /** Worktrees whose first command has been told of empty submodules. */
  readonly #toldOfSubmodules = new Set<string>();

  constructor(options: LaneSetupsOptions) {
    this.#options = options;
  }

  /**
   * Lets a command into a lane that is ready, or that has no setup.
   *
   * @returns what the command is to be told in its last lines.
   * @throws {LaneUnready} where the setup has yet to run.
   * @throws {CodelanesError} `WORKSPACE_SETUP_FAILED` with the end of its log and how to run it again;
   *   `COMMAND_UNAVAILABLE` where the run that this call waited for could not begin.
   */
  admit(root: ServedRoot, lane: Lane, opened: OpenedLane, call: string): readonly string[] {
    const found = laneWithSetup(root, lane, opened);
    if (found === undefined) return this.#submoduleNotices(lane, opened);
    const { states, worktree } = found;
    const readiness = states.of(worktree);
    switch (readiness.state) {
      case 'ready':
        return [
          ...states.takeLeftRunning(worktree.name).map(leftRunningNotice),
          ...this.#submoduleNotices(lane, opened),
        ];
      case 'failed':
        throw new CodelanesError('WORKSPACE_SETUP_FAILED', failureText(lane, readiness.record));
      case 'unready': {
        const fault = states.reached(worktree.name, call);
        if (fault !== undefined) throw new CodelanesError('COMMAND_UNAVAILABLE', faultText(lane, fault));
        throw new LaneUnready(lane, states.setup.timeoutMs);
      }
    }
  }

  /**
   * Does what a setup call asks for, unless it has been done.
   *
   * @throws {CodelanesError} `WORKER_MISMATCH` for a lane without a setup; `EXECUTION_ABORTED` for one that was
   *   stopped, and which is unready then.
   */
  async run(call: CommandCall, setting: CommandSetting, opened: OpenedLane): Promise<SetupResult> {
    const { root, assignment, signal } = call;
    const found = laneWithSetup(root, assignment.lane, opened);
    if (found === undefined || opened.facts.kind !== 'worktree') {
      throw new CodelanesError('WORKER_MISMATCH', `${describeLane(assignment.lane)} has no setup.`);
    }
    const { repository, states, worktree } = found;
    const { state } = states.of(worktree);
    if (state !== 'unready') return resultOf(state);
    const record = await runSetup({
      states,
      worktree,
      facts: opened.facts,
      checkout: repository.layout.pin,
      lane: assignment.lane,
      root: root.path,
      repository: repository.repository,
      call: assignment.callId,
      shell: setting.machine.shell,
      signal,
      run: walledBy(call, setting, opened),
      onFault: (error) => {
        const about = { err: error, callId: assignment.callId, lane: describeLane(assignment.lane) };
        this.#options.log.error(about, 'a setup met a fault of the machine or the worker');
      },
    });
    this.#options.onFailures();
    if (record.state === 'interrupted') {
      throw new CodelanesError('EXECUTION_ABORTED', 'The setup was stopped while it ran.');
    }
    return resultOf(record.state === 'ready' ? 'ready' : 'failed');
  }

  /** A command that had a lane for itself has ended: it may have made worktrees, which are set up at once. */
  lookBeneath(root: ServedRoot, lane: Lane): void {
    const own = lane.length === 2 ? repositoryOf(root, lane) : undefined;
    const beneath = own === undefined ? repositoriesBeneath(root, lane) : [own];
    // A worktree that was taken away has no failed setup any more.
    if (beneath.some(({ setups }) => setups !== undefined && setups.failed.length > 0)) {
      this.#options.onFailures();
    }
    for (const repository of beneath) {
      if (repository.setups === undefined) continue;
      try {
        repository.setups.look(worktreeBirths(repository.layout.pin));
      } catch (error) {
        // A checkout that does not verify has no lanes.
        if (!CodelanesError.is(error)) throw error;
      }
      this.#announce(root, repository, repository.setups);
    }
  }

  /** The lanes in which commands are refused because their setup has failed, as of now. */
  get failed(): readonly ClosedSince[] {
    const { roots, log } = this.#options;
    return roots.flatMap((root) =>
      root.repositories.flatMap((repository) => failedSetups(root, repository, log)),
    );
  }

  /** Says of every setup that nobody's command waits for that it is to run; a bridge may have forgotten it. */
  announceAll(): void {
    for (const root of this.#options.roots) {
      for (const repository of root.repositories) {
        if (repository.setups !== undefined) this.#announce(root, repository, repository.setups);
      }
    }
  }

  /** Takes the retries that operators ask for, until the returned function is called. */
  watch(): () => void {
    const { roots, log } = this.#options;
    const stops = roots.flatMap((root) =>
      root.repositories.flatMap((repository) => {
        const { setups } = repository;
        if (setups === undefined) return [];
        const onError = (error: unknown) => {
          log.error({ err: error }, 'a setup could not be retried');
        };
        const take = (name: string) => {
          this.#retry(root, repository, setups, name).catch(onError);
        };
        return [watchRetries(repository.stateDir, { take, onError })];
      }),
    );
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Told once in each worktree, as long as this worker lives. */
  #submoduleNotices(lane: Lane, { identity, emptySubmodules }: OpenedLane): readonly string[] {
    const empty = emptySubmodules?.() ?? [];
    if (empty.length === 0 || identity === undefined) return [];
    const worktree = `${laneKey(lane)} ${worktreeMark(identity)}`;
    if (this.#toldOfSubmodules.has(worktree)) return [];
    this.#toldOfSubmodules.add(worktree);
    return [emptySubmodulesNotice(empty)];
  }

  async #retry(
    root: ServedRoot,
    repository: ServedRepository,
    states: SetupStates,
    name: string,
  ): Promise<void> {
    if (!(await states.retry(name))) return;
    this.#options.log.warn({ repository: repository.workspaceId, worktree: name }, 'a setup is retried');
    this.#options.onFailures();
    this.#announce(root, repository, states);
  }

  #announce(root: ServedRoot, repository: ServedRepository, states: SetupStates): void {
    if (!repository.hasLanes) return;
    for (const name of states.wanted) {
      const lane = worktreeLaneOf(repository, name);
      if (readinessOf(root, lane, this.#options.log)?.state === 'unready') {
        this.#options.report({ state: 'unready', lane, timeoutMs: states.setup.timeoutMs });
      } else states.noLongerWanted(name);
    }
  }
}

/** Runs the command of a setup as that of its call, in the wall of its lane. */
function walledBy(call: CommandCall, setting: CommandSetting, opened: OpenedLane): SetupRun['run'] {
  return ({ signal, onStart, ...command }) => {
    const own: CommandCall = {
      ...call,
      signal,
      onStart: (init) => {
        onStart();
        call.onStart(init);
      },
    };
    return runWalled(setting, own, { ...command, maxOutputBytes: judgedOutputBytes }, opened);
  };
}

function laneWithSetup(
  root: ServedRoot,
  lane: readonly string[],
  { identity }: OpenedLane,
): LaneWithSetup | undefined {
  const repository = repositoryOf(root, lane);
  const states = repository?.setups;
  if (repository === undefined || states === undefined || identity === undefined) return undefined;
  const name = lane.at(-1)?.slice('worktree:'.length) ?? '';
  return { repository, states, worktree: { name, identity } };
}

function worktreeLaneOf(repository: ServedRepository, name: string): Lane {
  return laneSchema.parse([...repository.lane, `worktree:${name}`]);
}

function failedSetups(root: ServedRoot, repository: ServedRepository, log: Logger): ClosedSince[] {
  if (!repository.hasLanes) return [];
  return (repository.setups?.failed ?? []).flatMap((name) => {
    const lane = worktreeLaneOf(repository, name);
    const readiness = readinessOf(root, lane, log);
    if (readiness?.state !== 'failed') return [];
    const { reason, endedAt } = readiness.record;
    return [{ lane, cause: 'failed_setup' as const, reason, since: endedAt }];
  });
}

/** A folder that does not verify as a worktree is no lane, and has no setup; nor has what cannot be looked at. */
function readinessOf(root: ServedRoot, lane: Lane, log: Logger): Readiness | undefined {
  let opened: OpenedLane;
  try {
    opened = openLane(root, lane);
  } catch (error) {
    // Whoever asks serves other lanes, too.
    if (!CodelanesError.is(error))
      log.error({ err: error, lane: describeLane(lane) }, 'a lane cannot be looked at');
    return undefined;
  }
  try {
    const found = laneWithSetup(root, lane, opened);
    return found?.states.of(found.worktree);
  } finally {
    opened.close();
  }
}

function resultOf(state: SetupResult['state']): SetupResult {
  return { protocolVersion: 1, operation: 'setup', state };
}
