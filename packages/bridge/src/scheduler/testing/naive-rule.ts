import { callsConflict, laneKey } from '@codelanes/protocol';
import type { QueuedCall } from '../queued-call.js';
import { systemPrincipal } from '../setup-call.js';
import type { NodeCapacity } from '../store.js';

/** A call as the naive rule sees it; `blocked` keeps its place without being offered. */
export interface NaiveCall extends QueuedCall {
  readonly blocked?: boolean | undefined;
}

export interface NaiveSituation {
  readonly waiting: readonly NaiveCall[];
  readonly running: readonly QueuedCall[];
  readonly slots: number;
  readonly filePool: number;
  readonly capacities: readonly NodeCapacity[];
}

/** The rule of admission word by word, trying every waiting call against every other: slow, and plainly right. */
export function naiveNext(situation: NaiveSituation): QueuedCall | undefined {
  const { waiting, running } = situation;
  const runs = (principal: string) =>
    principal === systemPrincipal ? 0 : running.filter((call) => call.principal === principal).length;
  const isSettingUp = (lane: readonly string[]) =>
    [...waiting, ...running].some(
      (call) => call.principal === systemPrincipal && laneKey(call.lane) === laneKey(lane),
    );
  const able = waiting.filter(
    (call) =>
      call.blocked !== true &&
      hasRoom(call, situation) &&
      !running.some((other) => callsConflict(call, other)) &&
      !waiting.some(
        (other) =>
          other.sequence < call.sequence &&
          callsConflict(call, other) &&
          !(call.mode === 'shared' && isSettingUp(other.lane)),
      ),
  );
  return able.sort(
    (one, other) => runs(one.principal) - runs(other.principal) || one.sequence - other.sequence,
  )[0];
}

/** What of a situation breaks a promise, whatever the rule said; a resize may leave more running than fits. */
export function conflictsAmong(running: readonly QueuedCall[]): readonly string[] {
  return running.flatMap((one, index) =>
    running
      .slice(index + 1)
      .filter((other) => callsConflict(one, other))
      .map((other) => `${one.id} runs beside ${other.id}`),
  );
}

function hasRoom(call: QueuedCall, { running, slots, filePool, capacities }: NaiveSituation): boolean {
  if (call.pool === 'file') return running.filter(({ pool }) => pool === 'file').length < filePool;
  const commands = running.filter(({ pool }) => pool === 'command');
  return (
    commands.length < slots &&
    capacities
      .filter((node) => isWithin(call.lane, node.lane))
      .every((node) => commands.filter(({ lane }) => isWithin(lane, node.lane)).length < node.commands)
  );
}

function isWithin(lane: readonly string[], node: readonly string[]): boolean {
  return node.every((segment, depth) => lane[depth] === segment);
}
