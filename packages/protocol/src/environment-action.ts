import { findWorkspace, type AdvertisedEnvironment, type Capabilities } from './capabilities.js';
import { CodelanesError } from './errors.js';
import type { WorkspaceToolRequest } from './operations.js';
import { repositoriesOf } from './repository-alias.js';

/**
 * Refuses a command that asks for an action which the definition of its workspace or repository does not have, as the
 * caller saw it. Bridge and worker both ask: the worker's definition may be another by the time that the call's turn
 * comes. Of a request that names no action it says nothing.
 *
 * @throws CodelanesError `WORKER_MISMATCH` where there are no actions at all; `INVALID_REQUEST` for another
 *   fingerprint, an unknown name, or a working directory.
 */
export function assertActionAdvertised(capabilities: Capabilities, request: WorkspaceToolRequest): void {
  if (request.operation !== 'execute_command' || request.environmentAction === undefined) return;
  const { name, fingerprint } = request.environmentAction;
  const environment = environmentOf(capabilities, request);
  if (environment === undefined) {
    throw new CodelanesError(
      'WORKER_MISMATCH',
      `Workspace "${request.workspaceId}" has no definition, and so no environment actions.`,
    );
  }
  if (fingerprint !== environment.fingerprint) {
    refuse(
      `The definition of action "${name}" is not the one that was seen: read the worker's status again, and send its fingerprint.`,
    );
  }
  if (!environment.actions.includes(name)) {
    refuse(`There is no action "${name}" here. ${knownText(environment.actions)}`);
  }
  if (request.cwd !== undefined && request.cwd !== '.') {
    refuse(`Action "${name}" runs at the top of its workspace or worktree: leave cwd out.`);
  }
}

function environmentOf(
  capabilities: Capabilities,
  { workspaceId, repository }: WorkspaceToolRequest,
): AdvertisedEnvironment | undefined {
  if (repository === undefined) return findWorkspace(capabilities, workspaceId)?.environment;
  return repositoriesOf(capabilities, workspaceId).find(({ path }) => path === repository)?.workspace
    .environment;
}

function knownText(actions: readonly string[]): string {
  if (actions.length === 0) return 'It has none.';
  return `It has ${actions.map((name) => `"${name}"`).join(', ')}.`;
}

function refuse(message: string): never {
  throw new CodelanesError('INVALID_REQUEST', message);
}
