import type { LoadedDefinition } from './load-definition.js';
import type { RootRequest } from './roots.js';

/** What a worker is asked to serve by a definition; `lanesByDefault` decides where the definition does not. */
export function rootOfDefinition(definition: LoadedDefinition, lanesByDefault: boolean): RootRequest {
  const { name, root, fingerprint, repo, ref, actions, setup, resources, storage, network, read } =
    definition;
  return {
    id: name,
    root,
    linkedWorktreeLanes: definition.linkedWorktreeLanes ?? lanesByDefault,
    laneRouting: definition.laneRouting,
    read,
    network,
    definition: { fingerprint, repo, ref, actions },
    setup,
    resources,
    storage,
    repositories: definition.repositories.map((repository) => ({
      path: repository.path,
      workspaceId: repository.workspaceId,
      checkout: repository.checkout,
      identity: repository.identity,
      gitIdentity: repository.gitIdentity,
      slots: repository.slots,
      network: repository.network,
      setup: repository.setup,
      definition: { fingerprint: repository.fingerprint, actions: repository.actions },
    })),
  };
}
