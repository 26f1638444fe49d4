import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCall } from '../client/run-call.js';
import { requestOf } from '../exec/request-of.js';
import { demoCalls, withoutLane, type DemoCall } from './calls.js';
import type { Finding } from './findings.js';
import { laneFindings, oneLineFinding, speedUpLine, wallFinding } from './findings.js';
import type { Stage } from './play-calls.js';
import { playCalls } from './play-calls.js';
import { startProcesses } from './processes.js';
import { makeSampleRepository } from './sample-repository.js';
import type { Output } from './screen.js';
import { Screen } from './screen.js';

/**
 * Makes a sample repository in a temporary folder, serves it by a bridge and a worker of its own, and shows
 * the same calls with lanes and without. Leaves nothing behind.
 *
 * @param pace how many times as long the commands take.
 * @returns whether everything that it showed was true.
 * @throws the reason of an abort; then too nothing is left behind.
 */
export async function runDemo(output: Output, pace: number, signal: AbortSignal): Promise<boolean> {
  const screen = new Screen(output);
  const folder = await mkdtemp(join(tmpdir(), 'codelanes-demo-'));
  const repository = join(folder, 'sample');
  try {
    await makeSampleRepository(repository);
    screen.say(
      'A repository with linked worktrees .worktrees/a and .worktrees/b; one worker with two slots.',
    );
    const { stop, ...processes } = await startProcesses(repository, folder);
    try {
      return await show({ ...processes, screen, signal }, repository, demoCalls(pace));
    } finally {
      await stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function show(stage: Stage, repository: string, calls: readonly DemoCall[]): Promise<boolean> {
  const { screen } = stage;
  screen.say('\nFive calls, each worktree a lane of its own (· waits, █ runs):');
  const inLanes = await playCalls(stage, calls);
  const tellings = [report(screen, laneFindings(inLanes))];

  const wall = await tryTheWall(stage, repository);
  tellings.push(report(screen, [wall]));

  screen.say('\nThe same five calls without lanes, as one queue for the whole checkout:');
  const inOneLine = await playCalls(stage, calls.map(withoutLane));
  tellings.push(report(screen, [oneLineFinding(inOneLine)]));

  screen.say(`\n${speedUpLine(inLanes, inOneLine)}`);
  return tellings.every((isTrue) => isTrue);
}

async function tryTheWall(
  { client, workerId, workspaceId, screen, signal }: Stage,
  repository: string,
): Promise<Finding> {
  const command = 'echo stolen > ../b/stolen.txt';
  screen.say(`\nIn lane a: ${command}`);
  const request = requestOf(workspaceId, [command], { worktree: 'a' });
  const call = { workerId, request, patienceMs: 30_000 };
  const attempt = await runCall(client, call, {}, signal);
  screen.say(`  ${attempt.stderr.trim()} (status ${attempt.exitCode ?? 'none'})`);
  return wallFinding(attempt, existsSync(join(repository, '.worktrees', 'b', 'stolen.txt')));
}

function report(screen: Screen, findings: readonly Finding[]): boolean {
  for (const { claim, isTrue } of findings) screen.say(`${isTrue ? '✓' : '✗ NOT TRUE:'} ${claim}`);
  return findings.every(({ isTrue }) => isTrue);
}
