import type { Caller } from './caller.js';

/** Shell lines by the name under which a success is told. */
export type Attacks = Readonly<Record<string, string>>;

/**
 * Runs each attack in a shell of its own, all in one command of the lane, and names those that ended with 0.
 *
 * @throws {Error} where the command did not come to its end: then nothing would be proved.
 */
export async function successesOf(
  caller: Caller,
  worktree: string | undefined,
  attacks: Attacks,
): Promise<string[]> {
  const script = Object.entries(attacks)
    .map(([name, attack]) => `(${attack}) >/dev/null 2>&1 && echo 'through: ${name}'`)
    .join('\n');
  const run = await caller.run(`${script}\necho 'all tried'`, worktree);
  const lines = run.stdout.split('\n').filter((line) => line !== '');
  if (lines.pop() !== 'all tried') throw new Error(`the attacks did not end: ${JSON.stringify(run)}`);
  return lines.map((line) => line.replace('through: ', ''));
}
