import type { PlaceName } from './opened-places.js';
import { textOf, type Place } from './place.js';

/** What is left to do of a rebase that waits, in a Git directory. */
export const rebaseTodo = ['rebase-merge', 'git-rebase-todo'] as const;

export function isRebaseTodo({ segments }: PlaceName): boolean {
  return segments.slice(-rebaseTodo.length).join('/') === rebaseTodo.join('/');
}

/**
 * The same list without the commands that were not there before: whoever goes on with the rebase, or ends it in a way
 * that goes on first, would run them. `undefined` for what is no list that can be looked through.
 */
export function withoutNewCommands(before: Place | undefined, after: Place): Place | undefined {
  const [known, now] = [textOf(before) ?? '', textOf(after)];
  if (now === undefined || after.kind !== 'file') return undefined;
  const allowed = new Set(known.split('\n'));
  const lines = now.split('\n');
  const kept = lines.filter((line) => !isCommand(line) || allowed.has(line));
  if (kept.length === lines.length) return after;
  return { ...after, content: Buffer.from(kept.join('\n')).toString('base64') };
}

/** As Git reads a line: blanks, `exec` or `x`, and a blank or the end, which a zero byte is too. */
function isCommand(line: string): boolean {
  return /^[ \t]*(?:exec|x)(?:[ \t\r\0]|$)/u.test(line);
}
