import { laneSchema } from '@codelanes/protocol';
import { z } from 'zod';

const starts = z.array(z.string());

const submitStepSchema = z.strictObject({
  do: z.literal('submit'),
  id: z.string(),
  lane: laneSchema,
  mode: z.enum(['shared', 'exclusive']),
  pool: z.enum(['command', 'file']),
  caller: z.string(),
  starts,
});
export type SubmitStep = z.infer<typeof submitStepSchema>;

/** One step of a trace, and which calls start because of it, in order. */
const stepSchema = z.discriminatedUnion('do', [
  submitStepSchema,
  z.strictObject({ do: z.literal('finish'), id: z.string(), starts }),
  z.strictObject({ do: z.literal('withdraw'), id: z.string(), starts }),
  z.strictObject({ do: z.literal('resize'), slots: z.int().min(0), starts }),
]);
export type Step = z.infer<typeof stepSchema>;

/** A line of a scheduling vector: a worker of that size, and what happens at it. */
export const schedulingTraceSchema = z.strictObject({
  name: z.string(),
  slots: z.int().min(1),
  files: z.int().min(1),
  capacities: z.array(z.tuple([laneSchema, z.int().min(1)])),
  steps: z.array(stepSchema),
});
export type SchedulingTrace = z.infer<typeof schedulingTraceSchema>;
