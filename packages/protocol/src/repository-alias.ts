import { findWorkspace, type Capabilities, type WorkspaceDescriptor } from './capabilities.js';
import type { LaneFields } from './lane.js';

/**
 * The fields by which a call names its lane, with the workspace that is only a name of a repository replaced by
 * that repository. Of a call that passed the gate.
 */
export function withoutAlias(capabilities: Capabilities, fields: LaneFields): LaneFields {
  const { workspaceId, workspaceInstanceId, repository, worktree } = fields;
  const alias = findWorkspace(capabilities, workspaceId)?.aliasOf;
  return alias === undefined
    ? { workspaceId, workspaceInstanceId, repository, worktree }
    : { ...alias, workspaceInstanceId, worktree };
}

/** A repository of a workspace by its declared path, and the workspace that is its other name. */
export interface AdvertisedRepository {
  readonly path: string;
  readonly workspace: WorkspaceDescriptor;
}

export function repositoriesOf(
  { workspaceTools }: Capabilities,
  workspaceId: string,
): AdvertisedRepository[] {
  return workspaceTools.workspaces.flatMap((workspace) => {
    const { aliasOf } = workspace;
    return aliasOf?.workspaceId === workspaceId ? [{ path: aliasOf.repository, workspace }] : [];
  });
}
