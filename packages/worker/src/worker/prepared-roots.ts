import { randomBytes } from 'node:crypto';
import { CodelanesError } from '@codelanes/protocol';
import type { Logger } from 'pino';
import { freeSpace } from '../preparation/free-space.js';
import { PreparationError } from '../preparation/preparation-error.js';
import { prepare, type Prepared, type Step, type StepEnd } from '../preparation/prepare.js';
import { preparationFolder } from '../preparation/receipt.js';
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
  /** Ends a setup that runs, and begins no other. */
  readonly signal: AbortSignal;
}

/**
 * Runs the setups of roots, one after the other, before anything of them is offered, and returns the roots that are
 * ready. Of one whose setup fails or is put off the log says why; it stays in the hands of the worker, whose journals
 * must not forget it, and is not offered.
 *
 * @throws {PreparationError} where nothing is left to be served.
 * @throws {WorkerStopped}
 */
export async function preparedRoots(
  roots: readonly ServedRoot[],
  setting: PreparationSetting,
): Promise<readonly ServedRoot[]> {
  const ready: ServedRoot[] = [];
  let failure: PreparationError | undefined;
  for (const root of roots) {
    try {
      await prepareRoot(root, setting);
      ready.push(root);
    } catch (error) {
      failure = failureOf(root, error);
      if (setting.signal.aborted) throw new WorkerStopped({ cause: failure });
      setting.log.error({ workspace: root.id, output: failure.output }, failure.message);
    }
  }
  if (ready.length === 0 && failure !== undefined) throw failure;
  return ready;
}

async function prepareRoot(root: ServedRoot, setting: PreparationSetting): Promise<void> {
  const { setup, storage } = root;
  if (setup === undefined) return;
  setting.signal.throwIfAborted();
  const { commands, log } = setting;
  if (commands === undefined) throw new PreparationError('This machine cannot wall its setup; see above.');
  if (storage !== undefined) refuseLackOfSpace(root, storage);
  await refuseClosed(root, log);
  const lane = openLane(root, root.lane);
  try {
    const command = commands(root, root);
    const prepared = await prepare({
      top: lane.directory,
      setup,
      context: contextOf(command),
      folder: preparationFolder(root.stateDir),
      run: (step) => runStep({ root, command, lane, setting }, step),
      signal: setting.signal,
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

interface StepSetting {
  readonly root: ServedRoot;
  readonly command: CommandSetting;
  readonly lane: OpenedLane;
  readonly setting: PreparationSetting;
}

/** Journalled as every command, so that a worker that dies meanwhile leaves nothing running. */
async function runStep(
  { root, command, lane, setting: { commands, log, signal } }: StepSetting,
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
    const walled = { command: line, timeoutMs, maxOutputBytes: keptOutputBytes };
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
  const said = error instanceof PreparationError || CodelanesError.is(error);
  const reason = said ? error.message : 'The worker met a fault of its own.';
  const output = error instanceof PreparationError ? error.output : undefined;
  return new PreparationError(`Workspace "${id}" is not served. ${reason}`, { cause: error, output });
}
