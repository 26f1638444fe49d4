import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { LaneRoutingMode } from '@codelanes/protocol';
import type { FileIdentity } from '../files/directory.js';
import type { Action } from './action.js';
import type { Credentials, Remote } from './credentials.js';
import { aliasOf } from './definition.js';
import { DefinitionError } from './definition-error.js';
import { findRepositories, type FoundRepository } from './find-repositories.js';
import { environmentFingerprint, repositoryFingerprint } from './fingerprint.js';
import { MountTable } from './mount-table.js';
import { noNetwork, type NetworkPolicy } from './network-policy.js';
import { parseDefinition } from './parse-definition.js';
import { readDefinition } from './read-definition.js';
import type { RepositoryDefinition } from './repository.js';
import type { EnvironmentSetup, RepositorySetup } from './setup.js';
import type { Resource, Storage } from './storage.js';
import { UntrustedPath, walkTrusted, type TrustedPath } from './trusted-path.js';
import type { KeyPath, YamlSource } from './yaml-source.js';

/** A repository of an environment, found on this machine. */
export interface LoadedRepository {
  /** As declared, verbatim: the name of the repository in lanes and on the wire. */
  readonly path: string;
  readonly id: string;
  /** The workspace by which clients that know no repositories pick it: `<environment>:<id>`. */
  readonly workspaceId: string;
  /** Canonical path of the checkout: a real folder strictly inside the root, with a `.git` of its own. */
  readonly checkout: string;
  readonly identity: FileIdentity;
  readonly gitIdentity: FileIdentity;
  /** What a caller names beside an action of this repository; changes with its own definition alone. */
  readonly fingerprint: string;
  /** Runs once in each new worktree. */
  readonly setup: RepositorySetup | undefined;
  /** Commands that may run at once in it and its worktrees; undefined: as many as the worker has slots. */
  readonly slots: number | undefined;
  readonly actions: readonly Action[];
  /** Its own, else that of the environment. */
  readonly network: NetworkPolicy;
  readonly remote: Remote | undefined;
  /** Only where there is a remote. */
  readonly credentials: Credentials | undefined;
}

/** A definition whose root and repositories were found on this machine. */
export interface LoadedDefinition {
  readonly name: string;
  /** The file as it was named. */
  readonly file: string;
  /** Canonical path of the root. */
  readonly root: string;
  /** What a caller names beside an action of the environment. */
  readonly fingerprint: string;
  /** Labels for people. */
  readonly repo?: string | undefined;
  readonly ref?: string | undefined;
  /** Undefined: the command line decides. */
  readonly linkedWorktreeLanes?: boolean | undefined;
  /** Undefined: calls that name no lane are for the whole environment. */
  readonly laneRouting?: LaneRoutingMode | undefined;
  /** Runs at the root at each start of the worker. */
  readonly setup?: EnvironmentSetup | undefined;
  /** They run at the root. */
  readonly actions: readonly Action[];
  readonly resources: readonly Resource[];
  readonly storage?: Storage | undefined;
  readonly network: NetworkPolicy;
  /** Further absolute paths that commands may read. */
  readonly read: readonly string[];
  readonly repositories: readonly LoadedRepository[];
  /** Where each value stands and how the file and the root were reached, for faults that are found later. */
  readonly origin: DefinitionOrigin;
}

export interface DefinitionOrigin {
  readonly source: YamlSource;
  readonly file: TrustedPath;
  readonly root: TrustedPath;
}

/**
 * Loads one definition: reads the file, which only its operator can have written, and finds its root and its
 * repositories. `loadDefinitions` also holds it against the other roots of a worker.
 *
 * @throws {DefinitionError}
 */
export function loadDefinition(path: string, mounts = MountTable.ofThisProcess()): LoadedDefinition {
  const file = resolve(path);
  const read = readDefinition(file);
  const { definition, source } = parseDefinition(read.text, file);
  const root = findRoot(resolve(dirname(read.path.canonical), definition.root), source);
  const { name, repo, ref, linkedWorktreeLanes, laneRouting, setup, storage, sandbox } = definition;
  const { repositories = [], network = noNetwork, actions = [], resources = [] } = definition;
  const found = foundIn(root.canonical, repositories, source, mounts);
  return {
    name,
    file,
    root: root.canonical,
    fingerprint: environmentFingerprint(definition, root.canonical),
    repo,
    ref,
    linkedWorktreeLanes,
    laneRouting,
    setup,
    actions,
    resources,
    storage,
    network,
    read: sandbox?.read ?? [],
    repositories: found.map((repository) => loadedRepository(name, repository, network)),
    origin: { source, file: read.path, root },
  };
}

/** An error that shows one value of a definition. */
export function faultIn(
  source: YamlSource,
  key: KeyPath,
  sentence: string,
  cause?: unknown,
): DefinitionError {
  return DefinitionError.of(source.file, [source.faultAt(key, sentence)], { cause });
}

function findRoot(path: string, source: YamlSource): TrustedPath {
  const fault = (sentence: string, cause?: unknown) => faultIn(source, ['root'], sentence, cause);
  let root: TrustedPath;
  try {
    root = walkTrusted(path);
  } catch (error) {
    if (error instanceof UntrustedPath) throw fault(error.message, error);
    throw error;
  }
  if (!statSync(root.canonical).isDirectory())
    throw fault(`"${path}" is not a folder; name the folder that holds it.`);
  if (root.canonical === '/') throw fault('"/" would give agents the whole machine; name a folder.');
  return root;
}

function foundIn(
  root: string,
  repositories: readonly RepositoryDefinition[],
  source: YamlSource,
  mounts: MountTable,
) {
  const { found, faults } = findRepositories(root, repositories, mounts);
  if (faults.length === 0) return found;
  throw DefinitionError.of(
    source.file,
    faults.map(({ index, message }) => source.faultAt(['repositories', index, 'path'], message)),
    { cause: faults[0] },
  );
}

function loadedRepository(
  environment: string,
  found: RepositoryDefinition & FoundRepository,
  network: NetworkPolicy,
): LoadedRepository {
  const { checkout, identity, gitIdentity, ...declared } = found;
  const { path, id, setup, slots, remote, credentials } = declared;
  return {
    path,
    id,
    workspaceId: aliasOf(environment, id),
    checkout,
    identity,
    gitIdentity,
    fingerprint: repositoryFingerprint(declared, checkout),
    setup,
    slots,
    actions: declared.actions ?? [],
    network: declared.network === undefined ? network : ownNetwork(declared.network, path),
    remote,
    credentials,
  };
}

function ownNetwork(network: NetworkPolicy, repository: string): NetworkPolicy {
  return network.kind === 'none' ? network : { ...network, repository };
}
