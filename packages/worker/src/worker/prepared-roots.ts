import { randomBytes } from 'node:crypto';
import { CodelanesError } from '@codelanes/protocol';
import type { Logger } from 'pino';
import type { EnvironmentSetup } from '../environment/setup.js';
import { freeSpace } from '../preparation/free-space.js';
import { PreparationError } from '../preparation/preparation-error.js';
import { prepare, type Prepared, type Step, type StepEnd } from '../preparation/prepare.js';
import { preparationFolder } from '../preparation/receipt.js';
import { EnvironmentRun } from '../setup/environment-run.js';
import type { SetupLog } from '../setup/setup-log.js';
import { openLane, type OpenedLane } from './opened-lane.js';
import { watchReleases } from './releases.js';
import { runWalled, type CommandSetting } from './run-command.js';
import type { ServedRoot } from './served-root.js';
import { clearStaleLock } from './stale-lock.js';
import type { CommandSettings } from './wall.js';
import { WorkerStopped } from './worker-stopped.js';

/** What is kept of the output of a setup, in bytes; only the worker's log has it. */
const keptOutputBytes = 8 * 1024;

export interface PreparationSetting {
  /** Undefined on a machine that cannot wall: then no setup is run, and none of its roots is served. */
  readonly commands: CommandSettings | undefined;
  readonly log: Logger;
  /** How many setups may run at once: as many as commands may later. */
  readonly atOnce: number;
  /** Ends the setups that run, and begins no other. */
  readonly signal: AbortSignal;
}

/**
 * Runs the setups of roots side by side before anything of them is offered, and returns the roots that are ready, in
 * their order. Of one whose setup fails or is put off the log says why; it stays in the hands of the worker, whose journals
 * must not forget it, and is not offered.
 *
 * @throws {PreparationError} where nothing is left to be served.
 * @throws {WorkerStopped}
 */
export async function preparedRoots(
  roots: readonly ServedRoot[],
  setting: PreparationSetting,
): Promise<readonly ServedRoot[]> {
  const failures = new Map<ServedRoot, PreparationError>();
  const waiting = [...roots];
  const prepareNext = async () => {
    for (let root = waiting.shift(); root !== undefined; root = waiting.shift()) {
      try {
        await prepareRoot(root, setting);
      } catch (error) {
        const failure = failureOf(root, error);
        failures.set(root, failure);
        if (!setting.signal.aborted) {
          setting.log.error({ workspace: root.id, output: failure.output }, failure.message);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: setting.atOnce }, prepareNext));
  const ready = roots.filter((root) => !failures.has(root));
  const [failure] = failures.values();
  if (failure === undefined) return ready;
  if (setting.signal.aborted) throw new WorkerStopped({ cause: failure });
  if (ready.length === 0) throw failure;
  return ready;
}

async function prepareRoot(root: ServedRoot, setting: PreparationSetting): Promise<void> {
  const { setup } = root;
  if (setup === undefined) return;
  setting.signal.throwIfAborted();
  const run = await EnvironmentRun.begin(root, setup);
  try {
    await prepareBy(setup, { root, setting, log: run.log });
  } catch (error) {
    await run.end(
      setting.signal.aborted ? { state: 'interrupted' } : { state: 'failed', reason: reasonOf(error) },
    );
    throw error;
  }
  await run.end({ state: 'ready' });
}

interface RootRun {
  readonly root: ServedRoot;
  readonly setting: PreparationSetting;
  readonly log: SetupLog;
}

async function prepareBy(setup: EnvironmentSetup, run: RootRun): Promise<void> {
  const { root, setting } = run;
  const { commands, log, signal } = setting;
  if (commands === undefined) throw new PreparationError('This machine cannot wall its setup; see above.');
  if (root.storage !== undefined) refuseLackOfSpace(root, root.storage);
  await refuseClosed(root, log);
  const lane = openLane(root, root.lane);
  try {
    const command = commands(root, root);
    const prepared = await prepare({
      top: lane.directory,
      setup,
      context: contextOf(command),
      folder: preparationFolder(root.stateDir),
      run: (step) => runStep({ ...run, command, lane }, step),
      signal,
      note: (sentence) => {
        log.warn({ workspace: root.id }, sentence);
      },
    });
    log.info({ workspace: root.id }, sentences[prepared]);
  } finally {
    lane.close();
  }
}

const sentences: Record<Prepared, string> = {
  prepared: 'the setup of a workspace has run',
  reused: 'what an earlier setup of a workspace made is still good',
  restored: 'what a setup made was restored in a workspace from a snapshot',
};

interface StepSetting extends RootRun {
  readonly command: CommandSetting;
  readonly lane: OpenedLane;
}

/** Journalled as every command, so that a worker that dies meanwhile leaves nothing running. */
async function runStep(
  { root, command, lane, log: ownLog, setting: { commands, log, signal } }: StepSetting,
  { command: line, timeoutMs }: Step,
): Promise<StepEnd> {
  const callId = randomBytes(16).toString('hex');
  const call = {
    root,
    tree: root,
    audits: { root, commands, log },
    assignment: { callId, lane: root.lane, executionMs: timeoutMs },
    signal,
    onStart: () => undefined,
  };
  try {
    const onOutput = (chunk: Uint8Array) => {
      ownLog.write(chunk);
    };
    const walled = { command: line, timeoutMs, maxOutputBytes: keptOutputBytes, onOutput };
    const { ending, gone, quarantine, stdout, stderr } = await runWalled(command, call, walled, lane);
    const output = [stdout, stderr].filter((text) => text !== '').join('\n');
    if (!gone || quarantine !== undefined) {
      throw new PreparationError(`Its setup left it closed. ${quarantine ?? ''}`, { output });
    }
    return { ending, output };
  } finally {
    await root.journal.end(callId);
  }
}

/** What of the wall decides what a setup makes, beside its recipe. */
function contextOf({ machine, network, caches }: CommandSetting): unknown {
  const { shell, searchPath, toolchains, read } = machine;
  const shared = caches.map(({ kind, path, access }) => ({ kind, path, access }));
  return { shell, searchPath, toolchains, read, network, caches: shared };
}

function refuseLackOfSpace(root: ServedRoot, storage: NonNullable<ServedRoot['storage']>): void {
  const { free, wanted } = freeSpace(root.path, storage);
  if (free >= wanted) return;
  throw new PreparationError(
    `Its setup is put off: ${free} bytes are free and ${wanted} wanted (storage). Make room, then start the worker again.`,
  );
}

/** Only a worker that serves takes releases and looks again; one that has yet to do so would be closed for ever. */
async function refuseClosed(root: ServedRoot, log: Logger): Promise<void> {
  const released: string[] = [];
  const onError = (error: unknown) => {
    log.error({ err: error, workspace: root.id }, 'a lane could not be released');
  };
  watchReleases(root.stateDir, { take: (key) => released.push(key), onError })();
  for (const key of released) await root.quarantine.release(key);
  await root.quarantine.recheck((lane) => {
    clearStaleLock(root, lane);
  });
  const closed = root.quarantine.blocks(root.lane);
  if (closed !== undefined)
    throw new PreparationError(`Its setup cannot run, as it is closed. ${closed.reason}`);
}

function failureOf({ id }: ServedRoot, error: unknown): PreparationError {
  const output = error instanceof PreparationError ? error.output : undefined;
  return new PreparationError(`Workspace "${id}" is not served. ${reasonOf(error)}`, {
    cause: error,
    output,
  });
}

function reasonOf(error: unknown): string {
  const said = error instanceof PreparationError || CodelanesError.is(error);
  return said ? error.message : 'The worker met a fault of its own.';
}
