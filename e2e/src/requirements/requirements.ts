import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const requirementSchema = z.strictObject({
  id: z.string().regex(/^[A-Z]+[0-9]+$/),
  seed: z.string(),
  /** The step of the plan that makes the sentence true. */
  issue: z.int().min(1),
  says: z.string().min(1),
});
export type Requirement = z.infer<typeof requirementSchema>;

/** Steps of the plan that are done: each of their requirements must be proved by a test. */
export const doneIssues: readonly number[] = [2];

export const requirementsFile = fileURLToPath(new URL('../../fixtures/requirements.jsonl', import.meta.url));

/** What users asked for, sentence by sentence. */
export function readRequirements(file = requirementsFile): Requirement[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => requirementSchema.parse(JSON.parse(line)));
}
