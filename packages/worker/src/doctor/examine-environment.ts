import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeLane, laneKey, laneOf, type Lane, type LaneRoutingMode } from '@codelanes/protocol';
import type { Credentials } from '../environment/credentials.js';
import type { LoadedDefinition, LoadedRepository } from '../environment/load-definition.js';
import type { NetworkPolicy } from '../environment/network-policy.js';
import { pinCheckout } from '../lanes/checkout.js';
import { LaneRefusal } from '../lanes/lane-refusal.js';
import { listWorktrees, type ListedWorktrees } from '../lanes/worktrees.js';

/** Whether linked worktrees of a checkout are lanes, and which there are now. */
export type WorktreesReport =
  ({ readonly offered: true } & ListedWorktrees) | { readonly offered: false; readonly why: string };

/** What one root or repository would get; no secret, and no command, stands in it. */
export interface LaneReport {
  readonly lane: string;
  readonly laneKey: string;
  /** The workspaces by which callers reach it. */
  readonly workspaces: readonly { readonly workspaceId: string; readonly repository?: string | undefined }[];
  readonly folder: string;
  readonly worktrees: WorktreesReport;
  readonly fingerprint: string;
  /** Commands that may run at once; undefined: as many as the worker has slots. */
  readonly slots?: number | undefined;
  readonly setup?:
    | {
        readonly when: 'worker start' | 'new worktree';
        readonly timeoutMs: number;
        readonly idleTimeoutMs?: number | undefined;
        readonly copy: readonly string[];
        readonly reused: boolean;
      }
    | undefined;
  readonly actions: readonly string[];
  readonly network: NetworkPolicy;
  readonly remote?: string | undefined;
  readonly credentials?: Credentials['kind'] | undefined;
}

export interface EnvironmentReport {
  readonly name: string;
  readonly file: string;
  /** Undefined: calls that name no lane are for the whole environment. */
  readonly laneRouting?: LaneRoutingMode | undefined;
  readonly root: LaneReport;
  readonly repositories: readonly LaneReport[];
}

/** Says what a worker would make of a definition, by looking at its folders as the worker does. */
export function examineEnvironment(definition: LoadedDefinition): EnvironmentReport {
  const { name, file, laneRouting, linkedWorktreeLanes = false } = definition;
  return {
    name,
    file,
    laneRouting,
    root: rootReport(definition, linkedWorktreeLanes),
    repositories: definition.repositories.map((repository) =>
      repositoryReport(name, repository, linkedWorktreeLanes),
    ),
  };
}

function rootReport(definition: LoadedDefinition, lanes: boolean): LaneReport {
  const { name, root, setup, actions, network, fingerprint } = definition;
  return {
    ...named([name]),
    workspaces: [{ workspaceId: name }],
    folder: root,
    worktrees: worktreesOfRoot(definition, lanes),
    fingerprint,
    setup: setup && {
      when: 'worker start',
      timeoutMs: setup.timeoutMs,
      copy: [],
      reused: setup.reuse !== undefined,
    },
    actions: actions.map((action) => action.name),
    network,
  };
}

function repositoryReport(environment: string, repository: LoadedRepository, lanes: boolean): LaneReport {
  const { path, workspaceId, checkout, fingerprint, slots, setup, actions, network, remote, credentials } =
    repository;
  return {
    ...named(laneOf({ workspaceId: environment, repository: path })),
    workspaces: [{ workspaceId }, { workspaceId: environment, repository: path }],
    folder: checkout,
    worktrees: worktreesOf(checkout, lanes),
    fingerprint,
    slots,
    setup: setup && {
      when: 'new worktree',
      timeoutMs: setup.timeoutMs,
      idleTimeoutMs: setup.idleTimeoutMs,
      copy: setup.copy ?? [],
      reused: false,
    },
    actions: actions.map(({ name }) => name),
    network,
    remote: remote?.url,
    credentials: credentials?.kind,
  };
}

function named(lane: Lane): Pick<LaneReport, 'lane' | 'laneKey'> {
  return { lane: describeLane(lane), laneKey: laneKey(lane) };
}

/** A folder of repositories has its lanes in them, and nothing is amiss. */
function worktreesOfRoot({ root, repositories }: LoadedDefinition, lanes: boolean): WorktreesReport {
  const isPlain = repositories.length > 0 && !existsSync(join(root, '.git'));
  if (isPlain) return { offered: false, why: 'It is no checkout; its repositories have lanes of their own.' };
  return worktreesOf(root, lanes);
}

function worktreesOf(folder: string, lanes: boolean): WorktreesReport {
  try {
    const pin = pinCheckout(folder);
    if (lanes) return { offered: true, ...listWorktrees(pin) };
    return {
      offered: false,
      why: 'The definition does not say "linkedWorktreeLanes: true"; the worker can be told by --linked-worktree-lanes.',
    };
  } catch (error) {
    if (error instanceof LaneRefusal) return { offered: false, why: error.message };
    throw error;
  }
}
