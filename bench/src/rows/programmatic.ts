import { join } from 'node:path';
import { programmaticReplySchema } from '@codelanes/protocol';
import { repeat } from '../measure/repeat.js';
import { median } from '../measure/quantile.js';
import type { Caller } from '../rig/caller.js';
import { withDeployment } from '../rig/deployment.js';
import { createRepository } from '../rig/repository.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

const toolCalls = 10;
const scriptsPerRound = 20;
const warmUpScripts = 10;

export const programmatic: Row = {
  name: 'programmatic',
  what:
    `What one round trip of a script in a worktree lane takes that calls ${toolCalls} tools, one after the other, whose ` +
    'results are there at once: from the sending of a result until the next tool call has come, through bridge and ' +
    'worker. In it the script is thawed, calls, is frozen, and its lane is looked over before and after. p50 of the mean ' +
    'of a script, without the last round trip, which holds the end of the script. `first` and `last` are those that a ' +
    'replay would make grow apart.',
  unit: 'ms',
  gate: 15,
  goal: null,
  measure: (rounds) => inTemporaryFolder((folder) => measure(folder, rounds)),
};

async function measure(folder: string, rounds: number): Promise<Measured> {
  const roots = [createRepository(folder, 'repo', ['a'])];
  return withDeployment({ state: join(folder, 'state'), roots, slots: 2 }, async (deployment) => {
    const caller = deployment.caller();
    await repeat(warmUpScripts, () => timesOfScript(caller));
    const found = await repeat(rounds, () => repeat(scriptsPerRound, () => timesOfScript(caller)));
    const scripts = found.flat();
    const p50 = (trip: number) => median(scripts.map((times) => times.at(trip) ?? NaN));
    return {
      rounds: found.map((round) => median(round.map((times) => mean(times.slice(1, -1))))),
      also: {
        'start to first tool call': p50(0),
        first: p50(1),
        last: p50(-2),
        'last result to the end': p50(-1),
      },
    };
  });
}

/** Milliseconds until the first tool call, of every round trip after it, and until the end. */
async function timesOfScript(caller: Caller): Promise<number[]> {
  const times: number[] = [];
  const code = Array.from({ length: toolCalls }, () => 'look_up "{}"').join('\n');
  let body: object = { lang: 'bash', code, tools: [{ name: 'look-up' }], workspace_worktree: 'a' };
  for (;;) {
    const begin = performance.now();
    const { text, at } = await caller.runScript(body);
    times.push(at - begin);
    const reply = programmaticReplySchema.parse(JSON.parse(text));
    if (reply.status === 'completed') break;
    const results = reply.tool_calls.map(({ id }) => ({ call_id: id, result: 'found' }));
    body = { continuation_token: reply.continuation_token, tool_results: results };
  }
  if (times.length !== toolCalls + 1) throw new Error(`The script paused ${times.length - 1} times.`);
  return times;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
