import { realpathSync, statSync } from 'node:fs';
import { workspaceIdSchema, limits, type LaneRoutingMode } from '@codelanes/protocol';
import type { Action } from './action.js';
import type { NetworkPolicy } from './network-policy.js';
import type { EnvironmentSetup, RepositorySetup } from './setup.js';
import type { Resource, Storage } from './storage.js';
import type { FileIdentity } from '../files/directory.js';
import { liesIn } from '../files/lies-in.js';

/** What callers are told of where something is declared, and the commands that they choose by name. */
export interface ActionsOfDefinition {
  /** What a caller names beside an action. */
  readonly fingerprint: string;
  /** Labels for people. */
  readonly repo?: string | undefined;
  readonly ref?: string | undefined;
  readonly actions: readonly Action[];
}

/** What one root of a worker was asked to be. */
export interface RootRequest {
  readonly id: string;
  readonly root: string;
  readonly linkedWorktreeLanes: boolean;
  /** Undefined: calls that name no lane are for the whole root. */
  readonly laneRouting?: LaneRoutingMode | undefined;
  readonly read: readonly string[];
  /** What its commands may reach; nothing by default. */
  readonly network?: NetworkPolicy | undefined;
  readonly repositories?: readonly RepositoryRequest[] | undefined;
  /** Undefined for a root without a definition, of which callers are told nothing more. */
  readonly definition?: ActionsOfDefinition | undefined;
  /** Runs at each start of the worker, before the root is offered. */
  readonly setup?: EnvironmentSetup | undefined;
  /** Caches of the machine that its commands share. */
  readonly resources?: readonly Resource[] | undefined;
  /** Free disk that the setup needs. */
  readonly storage?: Storage | undefined;
}

/** A repository beneath a root, as a loaded definition has it. */
export interface RepositoryRequest {
  /** As declared, verbatim. */
  readonly path: string;
  /** The workspace that is its other name. */
  readonly workspaceId: string;
  /** Canonical path of the checkout. */
  readonly checkout: string;
  readonly identity: FileIdentity;
  readonly gitIdentity: FileIdentity;
  /** Commands that may run at once in it and its worktrees; undefined: as many as the worker has slots. */
  readonly slots?: number | undefined;
  /** What its commands may reach; nothing by default. */
  readonly network?: NetworkPolicy | undefined;
  readonly definition?: ActionsOfDefinition | undefined;
  /** Runs once in each new worktree. */
  readonly setup?: RepositorySetup | undefined;
}

/** A root that exists and overlaps no other. `root` is canonical. */
export type Root = RootRequest;

/** Roots that cannot be served; the message says which and what to do. */
export class RootError extends Error {
  override readonly name = 'RootError';
}

/**
 * Resolves the roots of a worker and refuses what could give one folder two lanes.
 *
 * @throws {RootError}
 */
export function compileRoots(requests: readonly RootRequest[]): readonly Root[] {
  if (requests.length === 0) throw new RootError('A worker needs at least one root: give --root DIR.');
  if (requests.length > limits.workspacesPerWorker) {
    throw new RootError(
      `A worker serves at most ${limits.workspacesPerWorker} roots; ${requests.length} were given.`,
    );
  }
  const roots = requests.map((request) => ({ ...request, root: canonicalFolder(request) }));
  for (const [index, root] of roots.entries()) {
    for (const other of roots.slice(index + 1)) {
      if (root.id === other.id)
        throw new RootError(`Two roots bear the id "${root.id}": give one another name.`);
      if (liesIn(root.root, other.root) || liesIn(other.root, root.root)) {
        throw new RootError(
          `The roots "${root.root}" and "${other.root}" overlap: one folder has one lane, so serve only one of them.`,
        );
      }
    }
  }
  refuseSharedNames(roots);
  return roots;
}

/** Each workspace is one place, and there are no more of them than a worker may offer. */
function refuseSharedNames(roots: readonly Root[]): void {
  const places = new Map<string, string>();
  for (const { id, root, repositories = [] } of roots) {
    const named = [
      { workspaceId: id, place: root },
      ...repositories.map(({ workspaceId, checkout }) => ({ workspaceId, place: checkout })),
    ];
    for (const { workspaceId, place } of named) {
      const other = places.get(workspaceId);
      if (other !== undefined) {
        throw new RootError(
          `"${other}" and "${place}" are both the workspace "${workspaceId}": give one another name.`,
        );
      }
      places.set(workspaceId, place);
    }
  }
  if (places.size <= limits.workspacesPerWorker) return;
  throw new RootError(
    `A worker offers at most ${limits.workspacesPerWorker} workspaces, roots and repositories together; these are ${places.size}.`,
  );
}

/** The id of a root that was given as a folder only: its name, with what an id cannot hold as `-`. */
export function rootIdOf(folder: string): string {
  const name = folder.replace(/\/+$/, '').split('/').at(-1) ?? '';
  const id = name
    .replace(/[^A-Za-z0-9._:-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, limits.idLength);
  return id === '' ? 'root' : id;
}

function canonicalFolder({ id, root }: RootRequest): string {
  const idFault = workspaceIdSchema.safeParse(id);
  if (!idFault.success)
    throw new RootError(`The id "${id}" is not one: ${idFault.error.issues[0]?.message ?? ''}.`);
  let canonical: string;
  try {
    canonical = realpathSync(root);
  } catch (error) {
    throw new RootError(`The root "${root}" does not exist: name an existing folder.`, { cause: error });
  }
  if (!statSync(canonical).isDirectory()) {
    throw new RootError(`The root "${root}" is not a folder: name the folder that holds it.`);
  }
  if (canonical === '/')
    throw new RootError('The root "/" would give agents the whole machine: name a folder.');
  return canonical;
}
