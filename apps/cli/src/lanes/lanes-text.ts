import type { LanesView, RefusingLane } from '@codelanes/protocol';
import { describeLane } from '@codelanes/protocol';
import { waitingText } from '../exec/waiting-text.js';
import { table } from '../table/table.js';
import { durationText } from './duration-text.js';
import { plainText } from '../terminal/plain-text.js';

/** What runs, what waits and what is closed at a worker, for people. */
export function lanesText(view: LanesView): string {
  const { workerId, online, slots, files } = view;
  const state = online ? `online${heardText(view)}` : 'offline';
  const head = `Worker ${workerId} is ${state}: ${slots.used} of ${slots.of} command slots and ${files.used} of ${files.of} file tools in use.`;
  const lines = [head, '', ...runningLines(view), '', ...waitingLines(view), ...pausedLines(view)];
  const closed = [...quarantineLines(view.quarantined), ...failedSetupLines(view.failedSetups)];
  return plainText([...lines, ...closed].join('\n'));
}

function heardText({ heardAgoMs }: LanesView): string {
  return heardAgoMs === undefined ? '' : `, heard of ${durationText(heardAgoMs)} ago`;
}

function runningLines({ running }: LanesView): string[] {
  if (running.length === 0) return ['Nothing runs.'];
  const rows = running.map((call) => [
    describeLane(call.lane),
    call.operation ?? 'held from before',
    call.state,
    sinceText(call),
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

function pausedLines({ paused }: LanesView): string[] {
  if (paused.length === 0) return [];
  const rows = paused.map((call) => [
    describeLane(call.lane),
    call.operation ?? '',
    durationText(call.sinceMs),
    call.principal,
    call.callId,
  ]);
  return ['', ...table(['PAUSED IN', 'WHAT', 'SINCE', 'FOR', 'CALL'], rows)];
}

/** Of a setup also how long it may take. */
function sinceText({ sinceMs, boundMs }: LanesView['running'][number]): string {
  const since = durationText(sinceMs);
  return boundMs === undefined ? since : `${since} of ${durationText(boundMs)}`;
}

/** The lanes that are closed because something of an earlier call may still run in them, or has left them in doubt. */
function quarantineLines(quarantined: readonly RefusingLane[]): string[] {
  return quarantined.flatMap(({ lane, reason, sinceMs }) => [
    '',
    `Quarantined for ${durationText(sinceMs)}: ${describeLane(lane)}. ${reason}`,
    `  Where processes are why, it heals when they are gone; else, once that is settled, "codelanes lanes release ${describeLane(lane)}", on the worker's machine, frees it by hand.`,
  ]);
}

/** The lanes in which no command runs until their setup has. */
function failedSetupLines(failed: readonly RefusingLane[]): string[] {
  return failed.flatMap(({ lane, reason, sinceMs }) => {
    const where = describeLane(lane);
    const again =
      lane.length === 1
        ? 'start the worker again, which runs it again'
        : `"codelanes setup retry ${where}" runs it again`;
    return [
      '',
      `Setup failed ${durationText(sinceMs)} ago: ${where}. ${reason}`,
      `  Commands there are refused. On the worker's machine "codelanes setup log ${where}" shows what it said; once that is mended, ${again}.`,
    ];
  });
}
