import { setTimeout as sleep } from 'node:timers/promises';
import { violationsOf, type Evidence, type Outcome, type Violation } from './checker.js';
import { faultNames, faults } from './fault.js';
import { Fleet } from './fleet.js';
import { Load } from './load.js';
import { Random } from './random.js';
import { unlessStuck } from './stuck.js';
import { someWork, type Work } from './work.js';

export interface CampaignOptions {
  readonly seed: number;
  readonly bridges: number;
  /** At least so many pieces of work are done; more where the faults take longer. */
  readonly calls: number;
  /** How often each fault befalls the fleet; left out, as often as it takes until the work is done. */
  readonly rounds?: number | undefined;
  readonly say?: ((line: string) => void) | undefined;
}

export interface Findings {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly works: number;
  readonly faults: Readonly<Record<string, number>>;
  /** How often each answer was given, in its own words. */
  readonly answers: Readonly<Record<string, number>>;
  readonly runs: number;
  readonly seconds: number;
}

const workers = ['worker-1', 'worker-2'];
const terms = { lanesPerWorker: 20, callers: 6 };
const pools = { commands: 3, files: 6 };
/** Pieces of work that are under way at once for one worker, so that one which is away does not stop the others. */
const streamsPerWorker = 24;

/** Does work on a fleet while faults befall it, and judges what was seen. */
export async function campaign(options: CampaignOptions): Promise<Findings> {
  const random = new Random(options.seed);
  const beganAt = performance.now();
  const { bridges, seed } = options;
  const { commands: slots, files: filePool } = pools;
  const fleet = await Fleet.start({ bridges, workers, callers: terms.callers, slots, filePool }, random);
  const load = new Load(fleet.entrance.url, fleet.bridges.tokens);
  try {
    const { works, befell } = await unlessStuck(underLoad(options, fleet, load, random), fleet, load);
    const evidence = await unlessStuck(evidenceOf(fleet, load), fleet, load);
    return {
      seed,
      violations: violationsOf(evidence),
      works,
      faults: befell,
      answers: countsOf(load.told.map(({ words }) => words)),
      runs: evidence.runs.length,
      seconds: Math.round((performance.now() - beganAt) / 1000),
    };
  } finally {
    load.giveUp();
    await fleet.stop();
  }
}

async function underLoad(
  { calls, rounds = Infinity, say = () => undefined }: CampaignOptions,
  fleet: Fleet,
  load: Load,
  random: Random,
): Promise<Pick<Findings, 'works'> & { readonly befell: Findings['faults'] }> {
  const state = { works: 0, isQuiet: false, hasFailed: false };
  const next = (workerId: string): Work | undefined => {
    if (state.hasFailed || (state.isQuiet && state.works >= calls)) return undefined;
    state.works += 1;
    return someWork(random, { workerId, ...terms });
  };
  const streams = workers.flatMap((workerId) => Array.from({ length: streamsPerWorker }, () => workerId));
  const working = Promise.all(streams.map((workerId) => load.stream(() => next(workerId))));
  working.catch(() => {
    state.hasFailed = true;
  });
  const befell: Record<string, number> = {};
  for (let round = 1; round <= rounds && state.works < calls && !state.hasFailed; round += 1) {
    for (const name of random.shuffled(faultNames)) {
      await sleep(random.between(200, 800));
      say(`${state.works} calls; ${name}`);
      await faults[name](fleet, random);
      befell[name] = round;
    }
  }
  state.isQuiet = true;
  await working;
  return { works: state.works, befell };
}

async function evidenceOf(fleet: Fleet, load: Load): Promise<Evidence> {
  const stuckLanes = await lanesThatDoNotServe(load);
  const lastingKeys = lastingButLayout(await fleet.bridges.redis.lastingKeys());
  const { sent, told } = load;
  return { sent, told, runs: fleet.runs, pools, stuckLanes, lastingKeys };
}

/** @throws Error where not even the layout lasts: then nobody has looked. */
function lastingButLayout(keys: readonly string[]): string[] {
  const layout = 'codelanes:layout';
  if (!keys.includes(layout)) throw new Error(`of the keys ${keys.join(', ')} that last none is the layout`);
  return keys.filter((key) => key !== layout);
}

/** Every lane, and the checkout above it, has to serve once more. */
async function lanesThatDoNotServe(load: Load): Promise<string[]> {
  const lanes = workers.flatMap((workerId) => [
    { workerId },
    ...Array.from({ length: terms.lanesPerWorker - 1 }, (_, at) => ({
      workerId,
      worktree: `lane-${at + 1}`,
    })),
  ]);
  const served = await Promise.all(
    lanes.map(async ({ workerId, ...lane }) => {
      const request = {
        protocolVersion: 1,
        workspaceId: 'primary',
        ...lane,
        operation: 'write_file',
        path: 'file',
        content: '1',
      };
      const work = { workerId, caller: 0, isDurable: false, queueWaitMs: 30_000, request };
      const outcome = await knownOutcome(load, work);
      return outcome === 'done' ? [] : [`${workerId} ${Object.values(lane).join()}: ${outcome}`];
    }),
  );
  return served.flat();
}

/** In the wake of the last fault a call may still be lost; a lane that is stuck serves none, however often it is asked. */
async function knownOutcome(load: Load, work: Work): Promise<Outcome> {
  let outcome = await load.see(work);
  for (let tries = 1; outcome === 'unknown' && tries < 3; tries += 1) outcome = await load.see(work);
  return outcome;
}

function countsOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
