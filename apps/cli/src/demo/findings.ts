import type { ExecuteCommandResult } from '@codelanes/protocol';
import type { Played } from './play-calls.js';
import { isAfter, overlap } from './stamps.js';

/** One thing that the demo claims, and whether it was so. */
export interface Finding {
  readonly claim: string;
  readonly isTrue: boolean;
}

/** What the stamps of the five commands, in the order in which they were sent, say of lanes. */
export function laneFindings({ ran }: Played): Finding[] {
  const [first, second, whole, laterA, laterB] = ran;
  if (!first || !second || !whole || !laterA || !laterB) {
    return [{ claim: 'All five commands told when they ran.', isTrue: false }];
  }
  return [
    {
      claim: 'The commands in .worktrees/a and .worktrees/b ran at the same time.',
      isTrue: overlap(first, second),
    },
    {
      claim: 'The command on the whole checkout waited for both.',
      isTrue: isAfter(whole, first) && isAfter(whole, second),
    },
    {
      claim: 'Newer calls did not overtake it, though lane b and a slot were free.',
      isTrue: isAfter(laterA, whole) && isAfter(laterB, whole) && second.toMs < first.toMs,
    },
    { claim: 'Then both lanes ran side by side again.', isTrue: overlap(laterA, laterB) },
  ];
}

/** What the attempt to write into a sibling's worktree came to. */
export function wallFinding(attempt: ExecuteCommandResult, wasWritten: boolean): Finding {
  const refused = attempt.exitCode !== 0 && !attempt.timedOut && attempt.signal === undefined;
  return {
    claim: 'A command in .worktrees/a that wrote to .worktrees/b failed, and nothing was written.',
    isTrue: refused && !wasWritten,
  };
}

/** Whether commands ran strictly one after another. */
export function oneLineFinding({ ran }: Played): Finding {
  const ordered = ran.toSorted((one, other) => one.fromMs - other.fromMs);
  const isTrue = ordered.every((each, index) => {
    const before = ordered[index - 1];
    return before === undefined || isAfter(each, before);
  });
  return { claim: 'Without lanes the same five calls ran one after another.', isTrue };
}

/** The measured speed-up, as one line. */
export function speedUpLine(lanes: Played, oneLine: Played): string {
  const [inLanes, inLine] = [lanes.tookMs, oneLine.tookMs].map((ms) => `${(ms / 1000).toFixed(1)} s`);
  const times = (oneLine.tookMs / lanes.tookMs).toFixed(2);
  return `The same five calls: ${inLanes ?? ''} in lanes, ${inLine ?? ''} in one line. Lanes were ${times} times as fast.`;
}
