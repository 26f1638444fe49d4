import type { Blocker, Lane, WaitingReason } from '@codelanes/protocol';
import { CodelanesError, describeLane, limits, utf8Length } from '@codelanes/protocol';
import { cutText } from './cut-text.js';

/** Room for a lane's description in a message, in bytes; lanes may hold paths of 4096 characters. */
const laneTextBytes = 200;

/** A call that left the queue at its deadline: it provably never ran. Knows what it waited for. */
export class QueueTimeout extends CodelanesError {
  readonly waitedFor: WaitingReason;

  constructor(lane: Lane, waitedMs: number, waitedFor: WaitingReason) {
    super('WORKSPACE_QUEUE_TIMEOUT', sentenceOf(lane, waitedMs, waitedFor));
    this.waitedFor = waitedFor;
  }
}

/**
 * As much of what was waited for as fits beside the other fields of a reply: LibreChat never retries a
 * larger one.
 */
export function fittingReason(fields: object, reason: WaitingReason): WaitingReason | undefined {
  for (let shown = Math.min(reason.blockers.length, limits.blockersShown); shown >= 0; shown -= 1) {
    const waitedFor = { ...reason, blockers: reason.blockers.slice(0, shown) };
    if (utf8Length(JSON.stringify({ ...fields, waitedFor })) <= limits.queueTimeoutBodyBytes)
      return waitedFor;
  }
  return undefined;
}

function sentenceOf(lane: Lane, waitedMs: number, { blockers, lacking }: WaitingReason): string {
  const waited = `The call did not start: it waited ${waitedMs} ms for lane ${shortLane(lane)}`;
  // Of a setup people want to know how far it is.
  const first = blockers.find(({ operation }) => operation === 'setup') ?? blockers[0];
  if (first !== undefined) {
    const others = blockers.length - 1;
    const more = others === 0 ? '' : `, and ${others} more`;
    return `${waited} behind ${blockerText(first)}${more}.`;
  }
  return `${waited}; ${lacking === undefined ? 'its worker did not take it' : lackingTexts[lacking]}.`;
}

const lackingTexts: Readonly<Record<NonNullable<WaitingReason['lacking']>, string>> = {
  slots: 'every command slot of the worker is taken',
  files: 'the worker runs as many file tools as it can',
  repository: 'as many commands as its repository allows are running',
};

function blockerText({ lane, ageMs, state, callId, operation, boundMs }: Blocker): string {
  if (operation === 'setup') {
    const bound = boundMs === undefined ? '' : ` and may take ${boundMs} ms`;
    const has = state === 'running' ? 'has run' : 'has waited';
    return `the setup of ${shortLane(lane)}, which ${has} for ${ageMs} ms${bound}`;
  }
  const name = callId === undefined ? 'a call' : `call ${callId}`;
  return `${name} ${state} in ${shortLane(lane)} for ${ageMs} ms`;
}

function shortLane(lane: Lane): string {
  return cutText(describeLane(lane), laneTextBytes);
}
