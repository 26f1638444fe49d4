import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { z } from 'zod';

/** What a number depends on; nothing that says whose machine it was. */
export const machineSchema = z.strictObject({
  cores: z.int().min(1),
  processor: z.string(),
  memoryGiB: z.number(),
  kernel: z.string(),
  node: z.string(),
});
export type Machine = z.infer<typeof machineSchema>;

export function thisMachine(): Machine {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
  };
}
