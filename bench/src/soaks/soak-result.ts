import { z } from 'zod';
import { machineSchema } from '../report/machine.js';

/** What a soak found, as its program prints it. */
export const findingsSchema = z.strictObject({
  seed: z.int(),
  violations: z.array(z.strictObject({ kind: z.string(), what: z.string() })),
  /** Pieces of work; each is sent as one call, or as several where earlier ones never ran. */
  works: z.int(),
  faults: z.record(z.string(), z.int()),
  answers: z.record(z.string(), z.int()),
  runs: z.int(),
  seconds: z.number(),
});

/** What is kept of a soak: `results/soak-<name>.json`. */
export const soakResultSchema = z.strictObject({
  soak: z.string(),
  what: z.string(),
  findings: findingsSchema,
  machine: machineSchema,
  date: z.iso.date(),
});
export type SoakResult = z.infer<typeof soakResultSchema>;

export function soakFile(name: string): string {
  return `soak-${name}.json`;
}
