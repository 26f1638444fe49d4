import type { Blocker, WaitingReason } from '@codelanes/protocol';
import { describeLane } from '@codelanes/protocol';
import { durationText } from '../lanes/duration-text.js';

const lackingTexts: Readonly<Record<NonNullable<WaitingReason['lacking']>, string>> = {
  slots: 'for a free command slot',
  files: 'for room among the file tools',
  repository: 'as its repository runs all the commands that it may',
};

/** Why a call waits, as the rest of a sentence that begins with "waits". */
export function waitingText({ blockers, lacking, position }: WaitingReason): string {
  const place = `place ${position} in the queue`;
  if (blockers.length > 0) return `behind ${blockers.map(blockerText).join(', ')} (${place})`;
  // What nothing stands in the way of, a worker that is there takes at once.
  return `${lacking === undefined ? 'for its worker to take it' : lackingTexts[lacking]} (${place})`;
}

function blockerText({ lane, state, ageMs, callId, operation, boundMs }: Blocker): string {
  if (operation === 'setup') {
    const bound = boundMs === undefined ? '' : ` of at most ${durationText(boundMs)}`;
    return `the setup ${state} in ${describeLane(lane)} for ${durationText(ageMs)}${bound}`;
  }
  const own = callId === undefined ? '' : ` ${callId}`;
  return `the call${own} ${state} in ${describeLane(lane)} for ${durationText(ageMs)}`;
}

/** What has to change before the text is worth printing again: ages grow all the time. */
export function waitingKey({ blockers, lacking, position }: WaitingReason): string {
  return JSON.stringify([
    position,
    lacking,
    blockers.map(({ lane, state, callId, operation }) => [lane, state, callId, operation]),
  ]);
}
