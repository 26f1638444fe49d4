import { z } from 'zod';
import type { Capabilities } from './capabilities.js';
import { workerIdSchema } from './identifiers.js';
import type { WorkspaceToolResult } from './operations.js';
import type { WireError } from './errors.js';

/**
 * What a client knows. `A`: LibreChat as npm has it, which takes a whole worker for unusable when it meets a
 * key that it does not know. `B`: the newest public LibreChat, with lanes. `own`: clients of Codelanes.
 * A generation filters replies only; gates always use what the worker advertised.
 */
export const clientGenerationSchema = z.enum(['A', 'B', 'own']);
export type ClientGeneration = z.infer<typeof clientGenerationSchema>;

/** The generation of one request: `own` by its header, else what the operator set. */
export function generationOf(header: string | undefined, configured: ClientGeneration): ClientGeneration {
  return header === '1' ? 'own' : configured;
}

export const workerStatusSchema = z.object({
  protocolVersion: z.literal(1),
  workerId: workerIdSchema,
  online: z.boolean(),
  ready: z.boolean(),
  leaseExpiresInMs: z.int().min(1).max(60_000).optional(),
  maxCommandTimeoutMs: z.int().min(1).optional(),
  capabilities: z.unknown().optional(),
});

/** The capabilities as a client of that generation may see them. */
export function capabilitiesFor(generation: ClientGeneration, capabilities: Capabilities): object {
  if (generation === 'own') return capabilities;
  const { sharedReads, workspaceTools, ...rest } = capabilities;
  const { commandResultFeatures, workspaces, ...tools } = workspaceTools;
  return {
    ...rest,
    workspaceTools: {
      ...tools,
      workspaces: workspaces.map(({ workspaceScopes, capacities, aliasOf, ...workspace }) => {
        const known =
          generation === 'B' ? workspaceScopes?.filter((scope) => scope === 'git_linked_worktree') : [];
        return known === undefined || known.length === 0
          ? workspace
          : { ...workspace, workspaceScopes: known };
      }),
      ...(generation === 'B' && commandResultFeatures !== undefined ? { commandResultFeatures } : {}),
    },
  };
}

/** The result as a client of that generation may see it. */
export function resultFor(generation: ClientGeneration, result: WorkspaceToolResult): WorkspaceToolResult {
  if (generation !== 'A' || result.operation !== 'execute_command' || result.laneGit === undefined)
    return result;
  const { laneGit, ...known } = result;
  return known;
}

/** The error as a client of that generation may see it: A has no NOT_FOUND and knows it as INVALID_PATH. */
export function errorFor(generation: ClientGeneration, error: WireError): WireError {
  return generation === 'A' && error.code === 'NOT_FOUND' ? { ...error, code: 'INVALID_PATH' } : error;
}
