import type { ScriptName, ScriptRunner } from './script-runner.js';

/** Most that Redis, which does nothing else meanwhile, is given at once; more goes as several batches. */
const mostTogether = 32;
const mostCharacters = 1_000_000;

/** The scripts that `batch` runs as functions. */
const batchable = new Set<ScriptName>(['submit', 'fetch', 'report', 'settle', 'progress', 'end', 'call']);

interface Transition {
  readonly name: ScriptName;
  readonly args: readonly string[];
  readonly resolve: (reply: readonly string[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends what is asked of one worker in the same turn of the event loop as one script. What a script costs Redis is
 * mostly the same for one transition as for many; a transition that is asked for alone goes as its own script.
 */
export class Batches {
  readonly #runner: ScriptRunner;
  /** By the keys of the worker and what every script is given. */
  readonly #gathered = new Map<string, Transition[]>();

  constructor(runner: ScriptRunner) {
    this.#runner = runner;
  }

  /** What the script of that name returns, as if it ran alone: `given` is the same for every script of a batch. */
  run(
    name: ScriptName,
    keys: readonly string[],
    given: readonly string[],
    args: readonly string[],
  ): Promise<readonly string[]> {
    if (!batchable.has(name)) return this.#runner.run(name, keys, [...given, ...args]);
    return new Promise((resolve, reject) => {
      const transition = { name, args, resolve, reject };
      const together = given.join(' ');
      const gathered = this.#gathered.get(together);
      if (gathered !== undefined) {
        gathered.push(transition);
        return;
      }
      this.#gathered.set(together, [transition]);
      setImmediate(() => {
        const transitions = this.#gathered.get(together) ?? [];
        this.#gathered.delete(together);
        for (const batch of batchesOf(transitions)) void this.#send(batch, keys, given);
      });
    });
  }

  async #send(
    batch: readonly Transition[],
    keys: readonly string[],
    given: readonly string[],
  ): Promise<void> {
    try {
      const replies = await this.#replies(batch, keys, given);
      for (const [index, { resolve }] of batch.entries()) resolve(replies[index] ?? []);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async #replies(
    batch: readonly Transition[],
    keys: readonly string[],
    given: readonly string[],
  ): Promise<readonly (readonly string[])[]> {
    const [first, ...others] = batch;
    if (first === undefined) return [];
    if (others.length === 0) return [await this.#runner.run(first.name, keys, [...given, ...first.args])];
    const all = batch.flatMap(({ name, args }) => [name, String(args.length), ...args]);
    const [whole = [], ...replies] = await this.#runner.runForLists('batch', keys, [...given, ...all]);
    const [code, due = ''] = whole;
    // Where the whole was refused, each transition was; when something is due next is told once for all.
    if (code !== 'OK') return batch.map(() => whole);
    return replies.map(([ownCode = '', , ...values], index) => [ownCode, index === 0 ? due : '', ...values]);
  }
}

function batchesOf(transitions: readonly Transition[]): readonly (readonly Transition[])[] {
  const batches: Transition[][] = [];
  let characters = Infinity;
  for (const transition of transitions) {
    const own = transition.args.reduce((sum, { length }) => sum + length, 0);
    const last = batches.at(-1);
    characters += own;
    if (last === undefined || last.length === mostTogether || characters > mostCharacters) {
      batches.push([transition]);
      characters = own;
    } else last.push(transition);
  }
  return batches;
}
