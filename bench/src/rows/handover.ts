import { join } from 'node:path';
import { WalledLane } from '@codelanes/worker/walled-lane';
import { repeat } from '../measure/repeat.js';
import { median } from '../measure/quantile.js';
import type { Caller } from '../rig/caller.js';
import { withDeployment } from '../rig/deployment.js';
import { withReplicas } from '../rig/replicas.js';
import { createRepository } from '../rig/repository.js';
import type { Serve } from '../rig/serve.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

const bounds = { unit: 'ms', gate: 5, goal: 2 } as const;
const onRedis = ' Two bridges share a Redis; the caller knows one, the worker the other.';

const whatOfWrites =
  'Settlement → start of the call that waited for it, by file tools: `write_file` calls are exclusive, so ten ' +
  'that are called at once in one lane run one after the other. p50 of one answer to the next. An upper bound: ' +
  'it holds the whole of the second write too, with its journal entries and syncs, as nothing is subtracted.';

const whatOfCommands =
  'Settlement → start of the command that waited for it: of two commands called at once in one lane, from the ' +
  "first one's last act to the second one's first, each stamped by the command itself. Less the same gap " +
  'between two sandboxed spawns one right after the other in this process, with which it alternates: the end ' +
  'of one sandbox and the building of the next are nobody’s hand-over. p50 less p50 in each round.';

export const handover: Row = {
  name: 'handover',
  what: whatOfWrites,
  ...bounds,
  measure: (rounds) => inTemporaryFolder((folder) => measureWrites(folder, rounds, withDeployment)),
};

export const handoverOnRedis: Row = {
  name: 'handover-on-redis',
  what: whatOfWrites + onRedis,
  ...bounds,
  measure: (rounds) => inTemporaryFolder((folder) => measureWrites(folder, rounds, withReplicas)),
};

export const commandHandover: Row = {
  name: 'command-handover',
  what: whatOfCommands,
  ...bounds,
  measure: (rounds) => inTemporaryFolder((folder) => measureCommands(folder, rounds, withDeployment)),
};

export const commandHandoverOnRedis: Row = {
  name: 'command-handover-on-redis',
  what: whatOfCommands + onRedis,
  ...bounds,
  measure: (rounds) => inTemporaryFolder((folder) => measureCommands(folder, rounds, withReplicas)),
};

const chainsPerRound = 20;
const writesPerChain = 10;

async function measureWrites(folder: string, rounds: number, serve: Serve): Promise<Measured> {
  const roots = [createRepository(folder, 'repo', ['a'])];
  return serve({ state: join(folder, 'state'), roots, slots: 2 }, async (serving) => {
    const caller = serving.caller();
    const chains = () => repeat(chainsPerRound, () => answerGaps(caller));
    // Every path is compiled by the time that counts.
    await repeat(10, chains);
    return { rounds: await repeat(rounds, async () => median((await chains()).flat())) };
  });
}

async function answerGaps(caller: Caller): Promise<number[]> {
  const write = (_: unknown, index: number) =>
    caller.execute({
      operation: 'write_file',
      path: `written-${index}.txt`,
      content: 'one line\n',
      worktree: 'a',
    });
  const replies = await Promise.all(Array.from({ length: writesPerChain }, write));
  const ends = replies.map(({ at }) => at).sort((one, other) => one - other);
  return ends.slice(1).map((end, index) => end - (ends[index] ?? end));
}

/** By the shell itself, in microseconds since 1970: a stamp by a program would add that program's start. */
const stamped = 'echo $EPOCHREALTIME; echo $EPOCHREALTIME';
const pairsPerRound = 40;

async function measureCommands(folder: string, rounds: number, serve: Serve): Promise<Measured> {
  const root = createRepository(folder, 'repo', ['a']);
  const bare = WalledLane.open({
    root,
    worktree: 'a',
    stateDir: join(folder, 'walled'),
    home: join(folder, 'home'),
  });
  try {
    return await serve({ state: join(folder, 'state'), roots: [root], slots: 2 }, async (serving) => {
      const caller = serving.caller();
      const alternate = (pairs: number) =>
        repeat(pairs, async () => ({
          through: gapOf(await Promise.all([caller.run(stamped, 'a'), caller.run(stamped, 'a')])),
          bare: gapOf([(await bare.run(stamped)).stdout, (await bare.run(stamped)).stdout]),
        }));
      await alternate(40);
      const found = await repeat(rounds, async () => {
        const pairs = await alternate(pairsPerRound);
        return {
          through: median(pairs.map((pair) => pair.through)),
          bare: median(pairs.map((pair) => pair.bare)),
        };
      });
      return {
        rounds: found.map((round) => round.through - round.bare),
        also: {
          'last act to first act': median(found.map((round) => round.through)),
          'the same of two sandboxed spawns': median(found.map((round) => round.bare)),
        },
      };
    });
  } finally {
    bare.close();
  }
}

/** Milliseconds from the end of the command that ran first to the beginning of the other. */
function gapOf(outputs: readonly string[]): number {
  const [first, second] = outputs
    .map((output) => output.trim().split('\n').map(Number))
    .sort(([one = 0], [other = 0]) => one - other);
  const end = first?.[1];
  const begin = second?.[0];
  if (end === undefined || begin === undefined) throw new Error('A command left no stamps.');
  return (begin - end) * 1000;
}
