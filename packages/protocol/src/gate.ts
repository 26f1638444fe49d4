import type { Capabilities, WorkspaceDescriptor, WorkspaceScope } from './capabilities.js';
import { findWorkspace } from './capabilities.js';
import { CodelanesError } from './errors.js';
import type { LaneFields } from './lane.js';
import type { WorkspaceToolRequest } from './operations.js';
import { editsOf } from './operations/edit.js';
import { assertActionAdvertised } from './environment-action.js';
import { repositoriesOf, type AdvertisedRepository } from './repository-alias.js';

/**
 * Refuses, before anything is queued, a request that the worker did not advertise. It never drops a field and
 * never falls back to the root. It always looks at what the worker advertised, whatever generation of client
 * is asking.
 *
 * @throws CodelanesError `WORKER_MISMATCH`, naming what is missing; `INVALID_REQUEST` as `assertActionAdvertised`.
 */
export function assertAdvertised(capabilities: Capabilities, request: WorkspaceToolRequest): void {
  const workspace = requireWorkspace(capabilities, request.workspaceId);
  assertLaneAdvertised(capabilities, request);
  const { operations } = capabilities.workspaceTools;
  if (
    !operations.includes(request.operation) ||
    workspace.operations?.includes(request.operation) === false
  ) {
    refuse(
      `Workspace "${workspace.id}" does not offer ${request.operation}.${whyNot(capabilities, request)}`,
    );
  }
  const missing = missingFeature(capabilities, request);
  if (missing !== undefined) refuse(`The worker does not offer ${missing}.`);
  assertActionAdvertised(capabilities, request);
}

/** @throws CodelanesError `WORKER_MISMATCH` where the worker runs no scripts there; as `assertLaneAdvertised`. */
export function assertScriptAdvertised(capabilities: Capabilities, fields: LaneFields): void {
  const workspace = requireWorkspace(capabilities, fields.workspaceId);
  assertLaneAdvertised(capabilities, fields);
  const operations = workspace.operations ?? capabilities.workspaceTools.operations;
  if (
    !operations.includes('execute_command') ||
    capabilities.programmaticLanguages?.includes('bash') !== true
  ) {
    const why = whyNot(capabilities, { operation: 'execute_command' });
    refuse(`Workspace "${workspace.id}" does not offer programmatic calls.${why}`);
  }
}

/** @throws CodelanesError `WORKER_MISMATCH` where a field that names a lane was not advertised. */
export function assertLaneAdvertised(capabilities: Capabilities, fields: LaneFields): void {
  const workspace = requireWorkspace(capabilities, fields.workspaceId);
  if (fields.workspaceInstanceId !== undefined) {
    refuse(`Workspace "${workspace.id}" does not offer conversation instances.`);
  }
  const { repository, worktree } = fields;
  const checkout =
    repository === undefined ? workspace : requireRepository(capabilities, workspace, repository);
  if (worktree === undefined || offers(checkout, 'git_linked_worktree')) return;
  const noLanes = 'does not offer linked worktree lanes (git_linked_worktree)';
  if (repository !== undefined) {
    refuse(`Repository "${repository}" of workspace "${workspace.id}" ${noLanes}.`);
  }
  const others = repositoriesOf(capabilities, workspace.id).filter((each) =>
    offers(each.workspace, 'git_linked_worktree'),
  );
  const where = others.length === 0 ? '' : `; name one of its repositories that do: ${pathsOf(others)}`;
  refuse(`Workspace "${workspace.id}" ${noLanes}${where}.`);
}

/** Of a worker that runs no commands, its own words beside the refusal of one. */
function whyNot(
  { whyNoCommands, workspaceTools: { operations } }: Capabilities,
  { operation }: Pick<WorkspaceToolRequest, 'operation'>,
): string {
  if (whyNoCommands === undefined || operation !== 'execute_command') return '';
  return operations.includes(operation) ? '' : ` ${whyNoCommands}`;
}

function pathsOf(repositories: readonly AdvertisedRepository[]): string {
  return repositories.map(({ path }) => `"${path}"`).join(', ');
}

function requireRepository(
  capabilities: Capabilities,
  workspace: WorkspaceDescriptor,
  path: string,
): WorkspaceDescriptor {
  const { id, aliasOf } = workspace;
  if (aliasOf !== undefined) {
    refuse(
      `Workspace "${id}" is the repository "${aliasOf.repository}" of "${aliasOf.workspaceId}", and no repository lies in another: send the one or the other.`,
    );
  }
  if (!offers(workspace, 'repository')) {
    refuse(`Workspace "${id}" does not offer repository lanes (repository).`);
  }
  const declared = repositoriesOf(capabilities, id);
  const found = declared.find((each) => each.path === path);
  if (found !== undefined) return found.workspace;
  return refuse(`Workspace "${id}" has no repository "${path}"; it has ${pathsOf(declared)}.`);
}

function offers({ workspaceScopes }: WorkspaceDescriptor, scope: WorkspaceScope): boolean {
  return workspaceScopes?.includes(scope) === true;
}

/** @throws CodelanesError `WORKER_MISMATCH` where the worker does not offer the workspace. */
export function requireWorkspace(capabilities: Capabilities, id: string): WorkspaceDescriptor {
  const workspace = findWorkspace(capabilities, id);
  if (workspace !== undefined) return workspace;
  const offered = capabilities.workspaceTools.workspaces.map((each) => `"${each.id}"`).join(', ');
  return refuse(`The worker does not offer workspace "${id}"; it offers ${offered}.`);
}

function missingFeature(capabilities: Capabilities, request: WorkspaceToolRequest): string | undefined {
  const tools = capabilities.workspaceTools;
  switch (request.operation) {
    case 'write_file': {
      const mode = request.overwrite === false ? 'create' : 'replace';
      return tools.writeFileModes?.includes(mode) === true ? undefined : `write_file mode "${mode}"`;
    }
    case 'edit_file':
    case 'preview_edit': {
      const edits = editsOf(request);
      const features = tools.editFileFeatures ?? [];
      if (edits.length > 1 && tools.editFileModes?.includes('batch') !== true) return 'edits in a batch';
      if (request.matching === 'tolerant' && !features.includes('tolerant_match')) return 'tolerant matching';
      if (edits.some((edit) => edit.replaceAll === true) && !features.includes('replace_all'))
        return 'replaceAll';
      const fenced = request.operation === 'edit_file' && request.expectedBaseSha256 !== undefined;
      return fenced && !features.includes('expected_base_sha256') ? 'expectedBaseSha256' : undefined;
    }
    case 'list_files': {
      const pages = request.afterPath !== undefined;
      return pages && tools.listFileFeatures?.includes('after_path') !== true ? 'afterPath' : undefined;
    }
    case 'execute_command':
    case 'read_file':
    case 'search_text':
      return undefined;
  }
}

function refuse(message: string): never {
  throw new CodelanesError('WORKER_MISMATCH', message);
}
