import { setTimeout as delay } from 'node:timers/promises';
import type { WaitingReason } from '@codelanes/protocol';
import { describeLane } from '@codelanes/protocol';
import type { BridgeClient } from '../client/bridge-client.js';
import type { CallListener } from '../client/run-call.js';
import { runCall } from '../client/run-call.js';
import { CliError } from '../errors/cli-error.js';
import { requestOf } from '../exec/request-of.js';
import { waitingKey } from '../exec/waiting-text.js';
import { CallTrack } from './call-track.js';
import type { DemoCall } from './calls.js';
import type { Screen } from './screen.js';
import type { Ran } from './stamps.js';
import { ranFrom } from './stamps.js';

const patienceMs = 120_000;
const timeoutMs = 60_000;

export interface Stage {
  readonly client: BridgeClient;
  readonly workerId: string;
  readonly workspaceId: string;
  readonly screen: Screen;
  /** Aborts when the person who watches has seen enough. */
  readonly signal: AbortSignal;
}

export interface Played {
  /** When the command of each call ran, by its own word, in the order of the calls. */
  readonly ran: readonly Ran[];
  /** From the first request to the last answer. */
  readonly tookMs: number;
}

/**
 * Sends calls at their times, shows their lives, and waits for all.
 *
 * @throws where a call was refused, or its command did not end well.
 */
export async function playCalls(stage: Stage, calls: readonly DemoCall[]): Promise<Played> {
  const tracks = calls.map(({ label }) => new CallTrack(label));
  const begin = performance.now();
  const nowMs = () => performance.now() - begin;
  stage.screen.open(tracks, nowMs);
  let tookMs = 0;
  try {
    const ran = await Promise.all(tracks.map((track, index) => play(stage, calls[index], track, nowMs)));
    tookMs = nowMs();
    return { ran, tookMs };
  } finally {
    stage.screen.close(tracks, tookMs === 0 ? nowMs() : tookMs);
  }
}

async function play(
  { client, workerId, workspaceId, screen, signal }: Stage,
  call: DemoCall | undefined,
  track: CallTrack,
  nowMs: () => number,
): Promise<Ran> {
  if (call === undefined) throw new RangeError('every track belongs to a call');
  await delay(call.sentAtMs, undefined, { signal });
  let saidKey: string | undefined;
  const listener: CallListener = {
    onView: ({ state, waiting }) => {
      const atMs = nowMs();
      const changed = track.enter(state, atMs);
      if (state === 'running' && changed) screen.change(atMs, call.label, 'runs');
      if (state !== 'waiting' || waiting === undefined || saidKey === waitingKey(waiting)) return;
      saidKey = waitingKey(waiting);
      screen.change(atMs, call.label, `waits${blockersText(waiting)}`);
    },
  };
  const request = requestOf(workspaceId, [call.command], { ...call, timeout: timeoutMs });
  const result = await runCall(client, { workerId, request, patienceMs }, listener, signal);
  if (track.enter('settled', nowMs())) screen.change(nowMs(), call.label, 'has ended');
  const ran = ranFrom(result.stdout);
  if (result.exitCode === 0 && ran !== undefined) return ran;
  throw new CliError(
    `The command of "${call.label}" ended with ${result.signal ?? `status ${result.exitCode ?? 'none'}`}: ${result.stderr.trim()}`,
    'Run the demo again; where it stays so, report this.',
  );
}

/** Shorter than what `exec` says: the timeline shows the ages. */
function blockersText({ blockers }: WaitingReason): string {
  if (blockers.length === 0) return '';
  return ` behind ${blockers.map(({ lane, state }) => `${describeLane(lane)} (${state})`).join(', ')}`;
}
