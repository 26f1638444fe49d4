import type { LanesView, QuarantinedLane } from '@codelanes/protocol';
import { describeLane } from '@codelanes/protocol';
import { waitingText } from '../exec/waiting-text.js';
import { durationText } from './duration-text.js';

/** What runs, what waits and what is closed at a worker, for people. */
export function lanesText(view: LanesView): string {
  const { workerId, online, slots, files } = view;
  const head = `Worker ${workerId} is ${online ? 'online' : 'offline'}: ${slots.used} of ${slots.of} command slots and ${files.used} of ${files.of} file tools in use.`;
  const lines = [head, '', ...runningLines(view), '', ...waitingLines(view)];
  return [...lines, ...quarantineLines(view.quarantined)].join('\n');
}

function runningLines({ running }: LanesView): string[] {
  if (running.length === 0) return ['Nothing runs.'];
  const rows = running.map((call) => [
    describeLane(call.lane),
    call.operation ?? 'held from before',
    call.state,
    durationText(call.sinceMs),
    call.principal,
    call.callId,
  ]);
  return table(['RUNS IN', 'WHAT', 'STATE', 'SINCE', 'FOR', 'CALL'], rows);
}

function waitingLines({ waiting }: LanesView): string[] {
  if (waiting.length === 0) return ['Nothing waits.'];
  const rows = waiting.map((call) => [
    describeLane(call.lane),
    call.operation ?? '',
    durationText(call.sinceMs),
    call.principal,
    call.callId,
    waitingText(call.waiting),
  ]);
  return table(['WAITS FOR', 'WHAT', 'SINCE', 'FOR', 'CALL', 'WHY'], rows);
}

/** The lanes that are closed because something of an earlier call may still run in them. */
function quarantineLines(quarantined: readonly QuarantinedLane[]): string[] {
  return quarantined.flatMap(({ lane, reason, sinceMs }) => [
    '',
    `Quarantined for ${durationText(sinceMs)}: ${describeLane(lane)}. ${reason}`,
    `  It heals when those processes are gone; "codelanes lanes release ${describeLane(lane)}", on the worker's machine, frees it by hand.`,
  ]);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
