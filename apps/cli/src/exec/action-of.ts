import type { ExecuteCommandRequest, ShownWorkspace } from '@codelanes/protocol';
import { CliError } from '../errors/cli-error.js';

/** Where an action is declared: a workspace, or a repository of it. */
export interface ActionPlace {
  readonly workspaceId: string;
  readonly repository?: string | undefined;
}

/**
 * An action by its name, with the fingerprint of the definition that the worker serves now.
 *
 * @throws CliError where it is not declared there, naming those that are.
 */
export function actionOf(
  workspaces: readonly ShownWorkspace[],
  { workspaceId, repository }: ActionPlace,
  name: string,
): NonNullable<ExecuteCommandRequest['environmentAction']> {
  const found = workspaces.find(({ id, aliasOf }) =>
    repository === undefined
      ? id === workspaceId
      : aliasOf?.workspaceId === workspaceId && aliasOf.repository === repository,
  );
  const environment = found?.environment;
  if (environment?.actions.includes(name) === true) return { name, fingerprint: environment.fingerprint };
  const place = repository === undefined ? workspaceId : `${workspaceId} with repository ${repository}`;
  const known = environment?.actions ?? [];
  throw new CliError(
    `There is no action "${name}" in ${place}.`,
    known.length === 0 ? 'Its definition declares none.' : `It has ${known.join(', ')}.`,
  );
}
