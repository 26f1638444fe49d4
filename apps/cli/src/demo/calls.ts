import type { SampleWorktree } from './sample-repository.js';

/** One command of the demo. */
export interface DemoCall {
  /** What the timeline calls it. */
  readonly label: string;
  /** Its lane; without one it works on the whole checkout. */
  readonly worktree?: SampleWorktree;
  /** Its folder, where the call is sent without a lane. */
  readonly cwd?: string;
  /** When it is sent, in milliseconds after the first one. */
  readonly sentAtMs: number;
  /** For the shell; it prints when it started and when it ended, in seconds since 1970. */
  readonly command: string;
}

/** A command of some seconds that says itself when it ran. */
function stamped(seconds: number, work: string): string {
  return `date +%s.%N && sleep ${seconds} && ${work} && date +%s.%N`;
}

function commit(file: string): string {
  return `date +%N > ${file} && git add ${file} && git commit --quiet --message='Change ${file}'`;
}

/**
 * Two agents work in worktrees of one repository; a call on the whole checkout merges what they did; what
 * they send afterwards waits behind it, although a lane and a slot are free for some of that time.
 *
 * @param pace how many times as long all of it takes.
 */
export function demoCalls(pace: number): readonly DemoCall[] {
  const [one, two, three, four] = [pace, 2 * pace, 3 * pace, 4 * pace];
  const merge = 'git merge --quiet --no-edit work-a && git merge --quiet --no-edit work-b';
  return [
    {
      label: `a: ${four} s of work, commit`,
      worktree: 'a',
      sentAtMs: 0,
      command: stamped(four, commit('a.txt')),
    },
    {
      label: `b: ${two} s of work, commit`,
      worktree: 'b',
      sentAtMs: 0,
      command: stamped(two, commit('b.txt')),
    },
    { label: `checkout: ${one} s, merge both`, sentAtMs: 600 * pace, command: stamped(one, merge) },
    {
      label: `a: ${three} s, sent later`,
      worktree: 'a',
      sentAtMs: 1200 * pace,
      command: stamped(three, commit('a.txt')),
    },
    {
      label: `b: ${three} s, sent later`,
      worktree: 'b',
      sentAtMs: 1200 * pace,
      command: stamped(three, commit('b.txt')),
    },
  ];
}

/** The same work as a client that knows no lanes sends it: a folder of the whole checkout. */
export function withoutLane({ worktree, ...call }: DemoCall): DemoCall {
  return worktree === undefined ? call : { ...call, cwd: `.worktrees/${worktree}` };
}
