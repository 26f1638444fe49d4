import { z } from 'zod';
import { median } from '../measure/quantile.js';
import type { Measured, Row } from '../row.js';
import { machineSchema, thisMachine } from './machine.js';

/** The rounds whose median binds. */
export const bindingRounds = 5;

const metSchema = z.enum(['goal', 'gate', 'nothing', 'reported only']);

/** What is kept of a row: `results/<row>.json`. */
export const resultSchema = z.strictObject({
  row: z.string(),
  what: z.string(),
  unit: z.enum(['ms', 's', '%', '×', 'calls', 'commands/s']),
  better: z.literal('more').optional(),
  rounds: z.array(z.number()).min(1),
  median: z.number(),
  gate: z.number().nullable(),
  goal: z.number().nullable(),
  /** The most demanding of the two that the median meets. */
  met: metSchema,
  /** Further figures, bound by nothing. */
  also: z.record(z.string(), z.number()).optional(),
  machine: machineSchema,
  date: z.iso.date(),
});
export type Result = z.infer<typeof resultSchema>;

export function resultOf(row: Row, { rounds, also }: Measured): Result {
  const value = median(rounds);
  const { name, what, unit, better, gate, goal } = row;
  return {
    row: name,
    what,
    unit,
    ...(better === undefined ? {} : { better }),
    rounds: rounds.map(rounded),
    median: rounded(value),
    gate,
    goal,
    met: metBy(value, row),
    ...(also === undefined
      ? {}
      : { also: Object.fromEntries(Object.entries(also).map(([key, figure]) => [key, rounded(figure)])) }),
    machine: thisMachine(),
    date: new Date().toISOString().slice(0, 10),
  };
}

/** What a value meets of a row's gate and goal. */
export function metBy(
  value: number,
  { gate, goal, better }: Pick<Row, 'gate' | 'goal' | 'better'>,
): Result['met'] {
  const meets = (bound: number) => (better === 'more' ? value >= bound : value <= bound);
  if (gate === null) return 'reported only';
  if (goal !== null && meets(goal)) return 'goal';
  return meets(gate) ? 'gate' : 'nothing';
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
