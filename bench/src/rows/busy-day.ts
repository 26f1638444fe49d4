import { arrangements } from '../busy-day/arrangements.js';
import { readBusyDay } from '../busy-day/day.js';
import { memoryOnClock, replay } from '../busy-day/replay.js';
import { waitsPlot } from '../busy-day/waits-plot.js';
import { quantile } from '../measure/quantile.js';
import { repeat } from '../measure/repeat.js';
import type { Measured, Row } from '../row.js';

export const busyDay: Row = {
  name: 'busy-day',
  what:
    'The 5,744 commands of a simulated day through the scheduler in virtual time, on the store in memory: how many ' +
    'calls more or less than the reference model of the rule are lost, over four arrangements together. A caller ' +
    'leaves for good after 30 s in the queue. Waits are of the calls that started.',
  unit: 'calls',
  gate: 0,
  goal: null,
  measure,
};

async function measure(rounds: number): Promise<Measured> {
  const calls = readBusyDay();
  const days = await repeat(rounds, () =>
    Promise.all(
      arrangements.map(async (arrangement) => {
        const on = memoryOnClock();
        const outcome = await replay(calls, arrangement, on);
        await on.store.close();
        return { ...arrangement, outcome };
      }),
    ),
  );
  const last = days.at(-1) ?? [];
  return {
    rounds: days.map((day) =>
      day.reduce((sum, { outcome, modelLoses }) => sum + Math.abs(outcome.lost - modelLoses), 0),
    ),
    also: Object.fromEntries(
      last.flatMap(({ name, outcome: { lost, waitsMs } }) => [
        [`${name}: lost`, lost],
        [`${name}: wait p50, s`, quantile(waitsMs, 0.5) / 1000],
        [`${name}: wait p95, s`, quantile(waitsMs, 0.95) / 1000],
      ]),
    ),
    table: [
      ['arrangement', 'lost', 'of all', 'wait p50', 'wait p95'],
      ...last.map(({ name, outcome: { lost, waitsMs } }) => [
        name,
        String(lost),
        `${((100 * lost) / calls.length).toFixed(1)} %`,
        seconds(quantile(waitsMs, 0.5)),
        seconds(quantile(waitsMs, 0.95)),
      ]),
    ],
    plot: waitsPlot(last),
  };
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
