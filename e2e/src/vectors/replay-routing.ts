import { isDeepStrictEqual } from 'node:util';
import { toLaneRequest } from '@codelanes/librechat';
import { operationSchema } from '@codelanes/protocol';
import { z } from 'zod';
import type { Mismatch } from './mismatch.js';

/** A request as routing looks at it; the other fields of its operation pass through. */
const requestSchema = z.looseObject({
  operation: operationSchema,
  workspaceId: z.string(),
  workspaceInstanceId: z.string().optional(),
  repository: z.string().optional(),
  worktree: z.string().optional(),
  path: z.string().optional(),
  cwd: z.string().optional(),
  afterPath: z.string().optional(),
  instructionSha256: z.string().optional(),
});

/** A line of a routing vector: a request as given, and as it is sent. */
export const routingCaseSchema = z.strictObject({
  repositories: z.array(z.string()),
  worktrees: z.array(z.string()),
  given: requestSchema,
  expect: z.union([
    z.strictObject({ request: requestSchema, prefix: z.string() }),
    z.strictObject({ request: requestSchema, reason: z.string() }),
  ]),
});
export type RoutingCase = z.infer<typeof routingCaseSchema>;

/** Routes the request of a case; gives what differs from what it expects, or `undefined`. */
export function replayRouting({ repositories, worktrees, given, expect }: RoutingCase): Mismatch | undefined {
  const got = toLaneRequest(given, { repositories, worktrees });
  if (isDeepStrictEqual(got, expect)) return undefined;
  return { name: JSON.stringify(given), expected: expect, got };
}
