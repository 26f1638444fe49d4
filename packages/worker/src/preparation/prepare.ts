import type { Ending } from '../commands/running-command.js';
import type { EnvironmentSetup } from '../environment/setup.js';
import type { Directory } from '../files/directory.js';
import { PreparationError } from './preparation-error.js';
import { preparationKey } from './preparation-key.js';
import { readReceipt, writeReceipt } from './receipt.js';

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
}

/** How an environment was made ready: setup ran, or what an earlier one made is still good. */
export type Prepared = 'prepared' | 'reused';

/**
 * Makes an environment ready: runs its setup, unless `reuse` says that what an earlier one made is still good, which
 * the check command confirms. What counts as made is stamped with its inputs only if these did not change meanwhile.
 *
 * @throws {PreparationError} saying what failed; nothing is stamped then, and the next start tries again.
 */
export async function prepare(preparation: Preparation): Promise<Prepared> {
  const { setup, folder, run } = preparation;
  const { reuse } = setup;
  if (reuse === undefined) {
    await runSetup(preparation);
    return 'prepared';
  }
  const keyed = { ...preparation, setup: { ...setup, reuse } };
  const check = { command: reuse.checkCommand, timeoutMs: reuse.checkTimeoutMs };
  const key = preparationKey(keyed);
  if (readReceipt(folder) === key) {
    const { code } = exitOf(await run(check), 'The check of its setup', check);
    if (code === 0 && preparationKey(keyed) === key) return 'reused';
  }
  await runSetup(preparation);
  refuseChange(key, preparationKey(keyed), 'its setup');
  const { code, output } = exitOf(await run(check), 'The check of its setup', check);
  if (code !== 0) {
    throw new PreparationError(
      `The check of its setup ended with status ${code} right after the setup; mend checkCommand or command.`,
      { output },
    );
  }
  refuseChange(key, preparationKey(keyed), 'the check of its setup');
  await writeReceipt(folder, key);
  return 'prepared';
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

function refuseChange(before: string, after: string, during: string): void {
  if (before === after) return;
  throw new PreparationError(
    `Inputs of its setup changed during ${during}: name only files that it does not write itself.`,
  );
}
