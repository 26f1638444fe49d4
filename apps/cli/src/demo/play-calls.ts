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

/** A call of the demo on its stage. */
interface Act {
  readonly call: DemoCall;
  readonly track: CallTrack;
  /** Resolves when the bridge knows of every call that is sent before this one. */
  readonly turn: Promise<unknown>;
  /** Told when the bridge knows of this one, or never will. */
  readonly onKnown: () => void;
}

/**
 * Sends calls at their times and in their order, shows their lives, and waits for all.
 *
 * @throws where a call was refused, or its command did not end well.
 */
export async function playCalls(stage: Stage, calls: readonly DemoCall[]): Promise<Played> {
  let turn: Promise<unknown> = Promise.resolve();
  const acts = calls.map((call): Act => {
    const own = turn;
    let onKnown = (): void => undefined;
    const known = new Promise<void>((resolve) => {
      onKnown = resolve;
    });
    turn = own.then(() => known);
    return { call, track: new CallTrack(call.label), turn: own, onKnown };
  });
  const begin = performance.now();
  const nowMs = () => performance.now() - begin;
  stage.screen.open(
    acts.map(({ track }) => track),
    nowMs,
  );
  let tookMs = 0;
  try {
    const ran = await Promise.all(acts.map((act) => play(stage, act, nowMs).finally(act.onKnown)));
    tookMs = nowMs();
    return { ran, tookMs };
  } finally {
    stage.screen.close(
      acts.map(({ track }) => track),
      tookMs === 0 ? nowMs() : tookMs,
    );
  }
}

async function play(
  { client, workerId, workspaceId, screen, signal }: Stage,
  { call, track, turn, onKnown }: Act,
  nowMs: () => number,
): Promise<Ran> {
  await delay(call.sentAtMs, undefined, { signal });
  await turn;
  let saidKey: string | undefined;
  const listener: CallListener = {
    onView: ({ state, waiting }) => {
      onKnown();
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
