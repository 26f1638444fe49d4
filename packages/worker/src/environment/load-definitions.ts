import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { limits } from '@codelanes/protocol';
import { identityOf, sameFile, type FileIdentity } from '../files/directory.js';
import { faultIn, loadDefinition, type LoadedDefinition } from './load-definition.js';
import { GatheredFaults } from './gathered-faults.js';
import { MountTable } from './mount-table.js';
import { findPrivate } from './private-path.js';
import { UntrustedPath, type TrustedPath } from './trusted-path.js';
import type { KeyPath } from './yaml-source.js';

/** A folder that a worker serves without a definition. */
export interface PlainRoot {
  readonly id: string;
  /** As it was given; one that is not there is no matter of definitions. */
  readonly root: string;
}

/**
 * Loads the definitions of one worker and holds them against each other and against its other roots: nothing by
 * which a definition is found can be written from a root, what commands may not reach lies outside of every root,
 * workspace ids differ, and there are no more of them than a worker may offer.
 *
 * @throws {DefinitionError} of all that is wrong, in every file.
 */
export function loadDefinitions(
  files: readonly string[],
  plainRoots: readonly PlainRoot[] = [],
  mounts = MountTable.ofThisProcess(),
): readonly LoadedDefinition[] {
  const faults = new GatheredFaults();
  const definitions = files.flatMap((file) => faults.look(() => loadDefinition(file, mounts)) ?? []);
  // What is held against each other has to be there first.
  faults.refuse();
  const roots = [
    ...plainRoots.flatMap(({ root }) => canonicalOf(root)),
    ...definitions.map(({ root }) => root),
  ];
  const taken = new Map(plainRoots.map(({ id, root }) => [id, root]));
  for (const definition of definitions) {
    faults.look(() => {
      takeWorkspaces(definition, taken);
    });
    faults.look(() => {
      refuseWritable(definition, roots, mounts);
    });
    for (const { key, path, kind } of privatePaths(definition)) {
      faults.look(() => {
        refuseExposed(definition, key, () => findPrivate(path, kind), roots, mounts);
      });
    }
  }
  faults.refuse();
  return definitions;
}

function takeWorkspaces(
  { name, file, repositories, origin: { source } }: LoadedDefinition,
  taken: Map<string, string>,
) {
  const workspaces: { key: KeyPath; id: string }[] = [
    { key: ['name'], id: name },
    ...repositories.map(({ workspaceId: id }, index) => ({ key: ['repositories', index], id })),
  ];
  for (const { key, id } of workspaces) {
    const holder = taken.get(id);
    if (holder !== undefined) {
      throw faultIn(source, key, `"${id}" is the workspace of "${holder}" too; expected ids that differ.`);
    }
    taken.set(id, file);
    if (taken.size > limits.workspacesPerWorker) {
      throw faultIn(
        source,
        key,
        `is one workspace too many; expected at most ${limits.workspacesPerWorker} in all, roots and repositories.`,
      );
    }
  }
}

/** Whoever can write where a definition or its root is looked for decides what the next start serves. */
function refuseWritable(
  { root, origin }: LoadedDefinition,
  roots: readonly string[],
  mounts: MountTable,
): void {
  const { source, file } = origin;
  const exposing = (places: readonly string[]) =>
    roots.find((folder) => places.some((place) => canBeReached(place, folder, mounts)));
  const overFile = exposing(file.places);
  if (overFile !== undefined) {
    throw faultIn(
      source,
      [],
      `this file can be reached from the root "${overFile}", so that agents could change it; move it out.`,
    );
  }
  const overRoot = exposing(origin.root.places.filter((place) => place !== root));
  if (overRoot !== undefined) {
    throw faultIn(
      source,
      ['root'],
      `leads through the root "${overRoot}", in which agents could change the way; name the folder itself.`,
    );
  }
}

interface PrivatePath {
  readonly key: KeyPath;
  readonly path: string;
  readonly kind: 'file' | 'folder';
}

function privatePaths({ setup, resources, repositories }: LoadedDefinition): readonly PrivatePath[] {
  const store = setup?.reuse?.snapshot?.store;
  return [
    ...(store === undefined
      ? []
      : [{ key: ['setup', 'reuse', 'snapshot', 'store'], path: store, kind: 'folder' as const }]),
    ...resources.map(({ path }, index) => ({
      key: ['resources', index, 'path'],
      path,
      kind: 'folder' as const,
    })),
    ...repositories.flatMap(({ credentials }, index): PrivatePath[] => {
      const key = ['repositories', index, 'credentials'];
      if (credentials?.kind === 'token-file')
        return [{ key: [...key, 'path'], path: credentials.path, kind: 'file' }];
      if (credentials?.kind !== 'github-app') return [];
      return [{ key: [...key, 'privateKeyFile'], path: credentials.privateKeyFile, kind: 'file' }];
    }),
  ];
}

function refuseExposed(
  { origin: { source } }: LoadedDefinition,
  key: KeyPath,
  find: () => TrustedPath,
  roots: readonly string[],
  mounts: MountTable,
): void {
  let found: TrustedPath;
  try {
    found = find();
  } catch (error) {
    if (error instanceof UntrustedPath) throw faultIn(source, key, error.message, error);
    throw error;
  }
  const over = roots.find(
    (root) =>
      found.places.some((place) => canBeReached(place, root, mounts)) ||
      mounts.isReachable(root, found.canonical),
  );
  if (over !== undefined) {
    throw faultIn(
      source,
      key,
      `"${found.canonical}" and the root "${over}" overlap; expected a path outside of every root.`,
    );
  }
}

function canBeReached(place: string, folder: string, mounts: MountTable): boolean {
  // Some file systems take two spellings for one name.
  return mounts.isReachable(place, folder) || sameFile(identityAt(place), identityAt(folder));
}

function identityAt(path: string): FileIdentity {
  return identityOf(lstatSync(path, { bigint: true }));
}

function canonicalOf(root: string): string[] {
  return existsSync(root) ? [realpathSync(root)] : [];
}
