import type { Ending } from '../commands/running-command.js';
import type { EnvironmentSetup } from '../environment/setup.js';
import type { Directory } from '../files/directory.js';
import { PreparationError } from './preparation-error.js';
import { preparationKeys, type PreparationKeys } from './preparation-key.js';
import { readReceipt, writeReceipt } from './receipt.js';
import { RootSnapshots } from './snapshots/root-snapshots.js';

type Reuse = NonNullable<EnvironmentSetup['reuse']>;

/** One command of a preparation. */
export interface Step {
  readonly command: string;
  readonly timeoutMs: number;
}

export interface StepEnd {
  readonly ending: Ending;
  /** The last of what it said; no model ever sees it. */
  readonly output: string;
}

export interface Preparation {
  /** The root, held open. */
  readonly top: Directory;
  readonly setup: EnvironmentSetup;
  /** As `KeyedSetup` has it. */
  readonly context: unknown;
  /** Where its receipt is kept. */
  readonly folder: string;
  /** Runs a command walled into the root. */
  readonly run: (step: Step) => Promise<StepEnd>;
  /** Ends the copying of a snapshot; `run` has its own end. */
  readonly signal: AbortSignal;
  /** Told in a sentence why a snapshot is not kept or not restored, which fails nothing. */
  readonly note: (sentence: string) => void;
}

/**
 * How an environment was made ready: setup ran, what an earlier one made is still there and good, or it was restored
 * from a snapshot.
 */
export type Prepared = 'prepared' | 'reused' | 'restored';

/**
 * Makes an environment ready: runs its setup, unless `reuse` says that what an earlier one made is still good, or a
 * snapshot of it could be restored, either of which the check command confirms. What counts as made is stamped with its
 * inputs only if these did not change meanwhile.
 *
 * @throws {PreparationError} saying what failed; nothing is stamped then, and the next start tries again.
 */
export async function prepare(preparation: Preparation): Promise<Prepared> {
  const { reuse } = preparation.setup;
  if (reuse === undefined) {
    await runSetup(preparation);
    return 'prepared';
  }
  const { snapshot } = reuse;
  const keysNow = () => preparationKeys({ ...preparation, setup: { ...preparation.setup, reuse } });
  const keys = keysNow();
  const isCurrent = () => keysNow().receipt === keys.receipt;
  const snapshots = snapshot && (await RootSnapshots.open({ ...preparation, reuse: { ...reuse, snapshot } }));
  try {
    return await prepareReusable({ preparation, reuse, snapshots, keys, isCurrent });
  } finally {
    snapshots?.close();
  }
}

interface ReusableSetting {
  readonly preparation: Preparation;
  readonly reuse: Reuse;
  readonly snapshots: RootSnapshots | undefined;
  readonly keys: PreparationKeys;
  /** Whether the keys still name what is there. */
  readonly isCurrent: () => boolean;
}

async function prepareReusable(setting: ReusableSetting): Promise<Prepared> {
  const { preparation, snapshots, keys, isCurrent } = setting;
  const prepared = await makeReady(setting);
  if (prepared !== 'reused') {
    await writeReceipt(preparation.folder, { key: keys.receipt, snapshot: keys.snapshot });
  }
  if (prepared === 'prepared') await snapshots?.keep(keys.snapshot, isCurrent);
  await snapshots?.maintain(keys.snapshot);
  return prepared;
}

/** By the cheapest of the three ways that holds. */
async function makeReady(setting: ReusableSetting): Promise<Prepared> {
  const { preparation, reuse, snapshots, keys, isCurrent } = setting;
  const holds = async () => (await runCheck(preparation, reuse)).code === 0 && isCurrent();
  if (readReceipt(preparation.folder)?.key === keys.receipt && (await holds())) return 'reused';
  if ((await snapshots?.restore(keys.snapshot)) === true) {
    if (await holds()) return 'restored';
    preparation.note('A snapshot was restored and its check did not hold: setup runs in full.');
    await snapshots?.reject(keys.snapshot);
  }
  await runSetup(preparation);
  refuseChange(isCurrent(), 'its setup');
  const { code, output } = await runCheck(preparation, reuse);
  if (code !== 0) {
    throw new PreparationError(
      `The check of its setup ended with status ${code} right after the setup; mend checkCommand or command.`,
      { output },
    );
  }
  refuseChange(isCurrent(), 'the check of its setup');
  return 'prepared';
}

async function runCheck({ run }: Preparation, { checkCommand, checkTimeoutMs }: Reuse) {
  const step = { command: checkCommand, timeoutMs: checkTimeoutMs };
  return exitOf(await run(step), 'The check of its setup', step);
}

async function runSetup({ setup, run }: Preparation): Promise<void> {
  const step = { command: setup.command, timeoutMs: setup.timeoutMs };
  const { code, output } = exitOf(await run(step), 'Its setup', step);
  if (code === 0) return;
  throw new PreparationError(`Its setup ended with status ${code}.`, { output });
}

/** The status of a command that ended by itself; one that did not says nothing of what is there. */
function exitOf({ ending, output }: StepEnd, what: string, { timeoutMs }: Step) {
  switch (ending.kind) {
    case 'exited':
      return { code: ending.code, output };
    case 'timed_out':
      throw new PreparationError(`${what} took longer than ${timeoutMs} ms and was ended.`, { output });
    case 'signalled':
      throw new PreparationError(`${what} was ended by ${ending.signal}.`, { output });
    case 'cancelled':
      throw new PreparationError(`${what} was stopped with the worker.`, { output });
  }
}

function refuseChange(isCurrent: boolean, during: string): void {
  if (isCurrent) return;
  throw new PreparationError(
    `Inputs of its setup changed during ${during}: name only files that it does not write itself.`,
  );
}
