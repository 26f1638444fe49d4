import { z } from 'zod';
import type { Capabilities, WorkspaceDescriptor } from './capabilities.js';
import type { WorkspaceToolResult } from './operations.js';
import type { WireError } from './errors.js';
import { repositoriesOf, type AdvertisedRepository } from './repository-alias.js';
import type { ShownRepository } from './worker-status.js';

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

/** The capabilities as a client of that generation may see them. */
export function capabilitiesFor(generation: ClientGeneration, capabilities: Capabilities): object {
  if (generation === 'own') return withRepositories(capabilities);
  const { sharedReads, whyNoCommands, workspaceTools, ...rest } = capabilities;
  const { commandResultFeatures, ...tools } = workspaceTools;
  const { programmaticLanguages } = rest;
  return {
    ...rest,
    workspaceTools: {
      ...tools,
      // LibreChat looks for them here.
      ...(programmaticLanguages === undefined ? {} : { programmaticLanguages }),
      workspaces: tools.workspaces.map((workspace) => workspaceFor(generation, workspace)),
      ...(generation === 'B' && commandResultFeatures !== undefined ? { commandResultFeatures } : {}),
    },
  };
}

function workspaceFor(
  generation: 'A' | 'B',
  { workspaceScopes, laneRouting, capacities, aliasOf, ...workspace }: WorkspaceDescriptor,
): object {
  const known = generation === 'B' ? workspaceScopes?.filter((scope) => scope === 'git_linked_worktree') : [];
  return known === undefined || known.length === 0 ? workspace : { ...workspace, workspaceScopes: known };
}

/** Names the repositories of each workspace in the workspace itself, beside the workspaces that are their other names. */
function withRepositories(capabilities: Capabilities): object {
  const { workspaceTools } = capabilities;
  const workspaces = workspaceTools.workspaces.map((workspace) => {
    const repositories = repositoriesOf(capabilities, workspace.id).map((repository) =>
      shownRepository(repository, workspace),
    );
    return repositories.length === 0 ? workspace : { ...workspace, repositories };
  });
  return { ...capabilities, workspaceTools: { ...workspaceTools, workspaces } };
}

function shownRepository(
  { path, workspace: { id, workspaceScopes } }: AdvertisedRepository,
  { capacities }: WorkspaceDescriptor,
): ShownRepository {
  const commands = capacities?.find(({ repository }) => repository === path)?.commands;
  return {
    path,
    workspaceId: id,
    ...(workspaceScopes === undefined ? {} : { workspaceScopes }),
    ...(commands === undefined ? {} : { commands }),
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
