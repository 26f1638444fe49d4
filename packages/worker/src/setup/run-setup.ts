import { CodelanesError } from '@codelanes/protocol';
import type { LaneOutcome } from '../commands/run-in-lane.js';
import { Directory } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';
import { readPlace, textOf } from '../sandbox/audit/place.js';
import { hashBytesOf } from '../git/split-index.js';
import { openCheckout, type CheckoutPin } from '../lanes/checkout.js';
import { readPointer } from '../lanes/git-pointer.js';
import { hostProcesses } from '../lanes/processes.js';
import type { WorktreeLane } from '../sandbox/lane-facts.js';
import { copyFiles } from './copy-files.js';
import { fillSubmodules } from './fill-submodules.js';
import { IdleLimit } from './idle-limit.js';
import { watchLeftRunning, type WatchedCommand } from './left-running.js';
import { bookkeepingFault, machineFault } from './machine-fault.js';
import { SetupLog } from './setup-log.js';
import type { BegunRecord, EndedRecord, FailedRecord, SetupRecord } from './setup-record.js';
import type { SetupStates, VerifiedWorktree } from './setup-states.js';
import { setupVariables } from './variables.js';

/** What is to be run in the wall of the worktree. */
export interface SetupCommand {
  readonly command: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Told of both streams as they come. */
  readonly onOutput: (chunk: Uint8Array) => void;
  /** Called right before it may run. */
  readonly onStart: () => void;
  /** Ends it with all that it started. */
  readonly signal: AbortSignal;
}

export interface SetupRun {
  readonly states: SetupStates;
  readonly worktree: VerifiedWorktree;
  /** As verified; its descriptors stay open until the run has ended. */
  readonly facts: WorktreeLane;
  readonly checkout: CheckoutPin;
  readonly lane: readonly string[];
  /** Canonical path of the environment's root. */
  readonly root: string;
  /** As declared. */
  readonly repository: string;
  readonly call: string;
  readonly shell: string;
  readonly signal: AbortSignal;
  /** Runs a command walled into the worktree, journalled as every other. */
  readonly run: (command: SetupCommand) => Promise<LaneOutcome>;
  /** Told of a fault of the machine or of the worker's own, whatever it means for the setup. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Sets a worktree up: copies what the definition names, then runs its command there. What came of it is on disk when
 * the promise resolves; until then the worktree is not ready, whatever ends the worker. Nothing in the tree is ever
 * removed. Of several at once for one worktree only the first runs, and all are told what came of it.
 */
export function runSetup(run: SetupRun): Promise<EndedRecord> {
  const { states, worktree, lane, call, onFault } = run;
  return states.run(worktree, async (key) => {
    const begun = { version: 1, lane, ...key, call, startedAt: Date.now() } as const;
    let log: SetupLog | undefined;
    try {
      log = SetupLog.create(states.folderOf(worktree.name), begun);
      await states.keep(worktree.name, runningRecord(begun));
      return await new Setup(run, begun, log).run();
    } catch (error) {
      onFault(error);
      const reason = bookkeepingFault(error);
      const record = { ...begun, endedAt: Date.now(), state: 'faulted', reason } as const;
      states.suppose(worktree.name, record);
      return record;
    } finally {
      log?.close();
    }
  });
}

function runningRecord(begun: BegunRecord): SetupRecord {
  const worker = hostProcesses.identify(process.pid);
  if (worker === undefined) throw new Error('The kernel does not know this process.');
  return { ...begun, state: 'running', worker };
}

type Came =
  | { readonly state: 'interrupted' }
  | { readonly state: 'ready'; readonly leftRunning: readonly string[] }
  | { readonly state: 'faulted' | 'failed'; readonly reason: string };

class Setup {
  readonly #run: SetupRun;
  readonly #begun: BegunRecord;
  readonly #log: SetupLog;
  #hasBegun = false;

  constructor(run: SetupRun, begun: BegunRecord, log: SetupLog) {
    this.#run = run;
    this.#begun = begun;
    this.#log = log;
  }

  /** Never rejects. */
  async run(): Promise<EndedRecord> {
    const { states, worktree, onFault } = this.#run;
    const record = this.#ended(await this.#outcome());
    try {
      await states.keep(worktree.name, record);
      return record;
    } catch (error) {
      onFault(error);
      const supposed = record.state === 'faulted' ? record : this.#unkept();
      states.suppose(worktree.name, supposed);
      return supposed;
    }
  }

  /** What came of a command that has run and cannot be kept is a failure: else every command would have it run again. */
  #unkept(): FailedRecord {
    const reason = "What came of it could not be kept: the worker's log says why.";
    return { ...this.#begun, endedAt: Date.now(), state: 'failed', reason, logEnd: '' };
  }

  #ended(came: Came): EndedRecord {
    const ended = { ...this.#begun, endedAt: Date.now() };
    switch (came.state) {
      case 'failed': {
        const logEnd = this.#log.end();
        this.#log.say(came.reason);
        return { ...ended, state: 'failed', reason: came.reason, logEnd };
      }
      case 'faulted':
        this.#log.say(came.reason);
        return { ...ended, state: 'faulted', reason: came.reason };
      case 'ready':
      case 'interrupted':
        this.#log.say(came.state === 'ready' ? 'The worktree is ready.' : 'The setup was stopped.');
        return { ...ended, ...came };
    }
  }

  async #outcome(): Promise<Came> {
    try {
      await this.#copy();
      return await this.#command();
    } catch (error) {
      if (this.#run.signal.aborted) return { state: 'interrupted' };
      const fault = this.#hasBegun ? undefined : machineFault(error);
      if (fault !== undefined) {
        this.#run.onFault(error);
        return { state: 'faulted', reason: fault };
      }
      if (error instanceof FileRefusal)
        return { state: 'failed', reason: `A file cannot be copied: ${error.message}` };
      if (CodelanesError.is(error)) return { state: 'failed', reason: error.message };
      this.#run.onFault(error);
      return { state: 'failed', reason: 'The worker met a fault of its own: its log says more.' };
    }
  }

  async #copy(): Promise<void> {
    const { states, facts, checkout } = this.#run;
    const opened = openCheckout(checkout.root, checkout);
    const top = Directory.open(`/proc/self/fd/${facts.descriptors.worktree}`);
    const git = this.#metadata();
    try {
      await copyFiles({
        paths: states.setup.copy ?? [],
        checkout: { top: opened.directory, git: opened.git },
        worktree: { top, git },
        hashBytes: hashBytesOf(textOf(readPlace(opened.git, ['config'])) ?? ''),
        say: (line) => {
          this.#log.say(line);
        },
      });
    } finally {
      git.close();
      top.close();
      opened.close();
    }
  }

  async #command(): Promise<Came> {
    const { states, shell, run, signal } = this.#run;
    const { command, timeoutMs, idleTimeoutMs } = states.setup;
    const watched = watchLeftRunning(command, { shell, before: fillSubmodules });
    const idle = new IdleLimit(idleTimeoutMs);
    const outcome = await run({
      command: watched.command,
      variables: this.#variables(),
      timeoutMs,
      onOutput: (chunk) => {
        idle.heard();
        this.#log.write(chunk);
      },
      onStart: () => {
        this.#hasBegun = true;
      },
      signal: AbortSignal.any([signal, idle.signal]),
    }).finally(() => {
      idle.end();
    });
    for (const notice of outcome.notices) this.#log.say(notice);
    if (signal.aborted) return { state: 'interrupted' };
    const came = cameOf(outcome, watched, timeoutMs);
    return came.state === 'interrupted' && idle.isOver ? failed(idleReason(idleTimeoutMs)) : came;
  }

  #variables() {
    const { root, repository, worktree, facts } = this.#run;
    return setupVariables({
      root,
      repository,
      worktree: worktree.name,
      path: facts.lanePath,
      branch: this.#branch(),
    });
  }

  #branch(): string | undefined {
    const metadata = this.#metadata();
    try {
      return /^ref: refs\/heads\/(.+)$/u.exec(readPointer(metadata, 'HEAD').text)?.[1];
    } finally {
      metadata.close();
    }
  }

  #metadata(): Directory {
    return Directory.open(`/proc/self/fd/${this.#run.facts.descriptors.metadata}`);
  }
}

function failed(reason: string): Came {
  return { state: 'failed', reason };
}

function idleReason(idleTimeoutMs = 0): string {
  return `It said nothing for ${idleTimeoutMs / 1000} s, and was ended with all that it had started.`;
}

function cameOf(outcome: LaneOutcome, watched: WatchedCommand, timeoutMs: number): Came {
  const { ending, gone, quarantine } = outcome;
  if (!gone || quarantine !== undefined) return failed(quarantine ?? 'What it started could not be ended.');
  switch (ending.kind) {
    case 'exited':
      if (ending.code !== 0) return failed(`It ended with status ${ending.code}.`);
      return { state: 'ready', leftRunning: watched.read(outcome.stderr) };
    case 'timed_out':
      return failed(`It took longer than ${timeoutMs / 1000} s, and was ended with all that it had started.`);
    case 'signalled':
      return failed(`Its sandbox was ended by ${ending.signal}.`);
    case 'cancelled':
      return { state: 'interrupted' };
  }
}
