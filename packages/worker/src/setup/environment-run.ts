import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { EnvironmentSetup } from '../environment/setup.js';
import { hostProcesses } from '../lanes/processes.js';
import { SetupLog } from './setup-log.js';
import { writeRecord, type BegunRecord, type EndedRecord } from './setup-record.js';

/** An environment whose own setup is run. */
export interface PreparedEnvironment {
  readonly lane: readonly string[];
  /** Its state folder. */
  readonly stateDir: string;
}

/** What came of a run. */
export type EnvironmentRunEnd =
  | { readonly state: 'ready' }
  | { readonly state: 'interrupted' }
  /** `reason` is one sentence. */
  | { readonly state: 'failed'; readonly reason: string };

/** Where the record and the logs of an environment's own setup are kept. */
export function environmentRunFolder(stateDir: string): string {
  return join(stateDir, 'environment-setup');
}

/** A run of the setup of an environment, recorded and logged as those of worktrees are; nothing is decided by it. */
export class EnvironmentRun {
  readonly log: SetupLog;
  readonly #folder: string;
  readonly #begun: BegunRecord;

  private constructor(folder: string, begun: BegunRecord) {
    this.#folder = folder;
    this.#begun = begun;
    this.log = SetupLog.create(folder, begun);
  }

  /** Resolves when it is on disk that the run has begun. */
  static async begin(
    { lane, stateDir }: PreparedEnvironment,
    setup: EnvironmentSetup,
  ): Promise<EnvironmentRun> {
    const worker = hostProcesses.identify(process.pid);
    if (worker === undefined) throw new Error('The kernel does not know this process.');
    const folder = environmentRunFolder(stateDir);
    const begun = {
      version: 1,
      lane,
      worktree: '',
      setup: createHash('sha256').update(JSON.stringify(setup)).digest('hex'),
      call: randomBytes(16).toString('hex'),
      startedAt: Date.now(),
    } as const;
    const run = new EnvironmentRun(folder, begun);
    await writeRecord(folder, { ...begun, state: 'running', worker });
    return run;
  }

  /** Resolves when it is on disk what came of it. */
  async end(end: EnvironmentRunEnd): Promise<void> {
    const record = this.#endedRecord(end);
    this.log.close();
    await writeRecord(this.#folder, record);
  }

  #endedRecord(end: EnvironmentRunEnd): EndedRecord {
    const ended = { ...this.#begun, endedAt: Date.now() };
    switch (end.state) {
      case 'ready':
        return { ...ended, state: 'ready', leftRunning: [] };
      case 'interrupted':
        return { ...ended, state: 'interrupted' };
      case 'failed': {
        const logEnd = this.log.end();
        this.log.say(end.reason);
        return { ...ended, state: 'failed', reason: end.reason, logEnd };
      }
    }
  }
}
