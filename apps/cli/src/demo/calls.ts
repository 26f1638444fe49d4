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
 */
export const first: DemoCall = {
  label: 'a: 4 s of work, commit',
  worktree: 'a',
  sentAtMs: 0,
  command: stamped(4, commit('a.txt')),
};
export const second: DemoCall = {
  label: 'b: 2 s of work, commit',
  worktree: 'b',
  sentAtMs: 0,
  command: stamped(2, commit('b.txt')),
};
export const whole: DemoCall = {
  label: 'checkout: 1 s, merge both',
  sentAtMs: 600,
  command: stamped(1, 'git merge --quiet --no-edit work-a && git merge --quiet --no-edit work-b'),
};
export const laterA: DemoCall = {
  label: 'a: 3 s, sent later',
  worktree: 'a',
  sentAtMs: 1200,
  command: stamped(3, commit('a.txt')),
};
export const laterB: DemoCall = {
  label: 'b: 3 s, sent later',
  worktree: 'b',
  sentAtMs: 1200,
  command: stamped(3, commit('b.txt')),
};

/** The same work as a client that knows no lanes sends it: a folder of the whole checkout. */
export function withoutLane({ worktree, ...call }: DemoCall): DemoCall {
  return worktree === undefined ? call : { ...call, cwd: `.worktrees/${worktree}` };
}
