import { noNetwork, type NetworkPolicy } from '../environment/network-policy.js';
import { gitEnvironment } from '../git/environment.js';
import { insideNode, needsNode } from '../network/listener-program.js';
import { proxyEnvironment } from '../network/proxy-environment.js';
import type { CheckoutLane, PlainLane, WorktreeLane } from './lane-facts.js';
import type { MachineFacts } from './machine-facts.js';
import { liesIn } from '../files/lies-in.js';
import { cacheMounts, cacheVariables, type SharedCache } from './shared-cache.js';
import { defaultLimits, type Limits, type Mount, type Policy, type Source } from './policy.js';
import {
  emptied,
  insidePaths,
  openedInside,
  systemEnvironment,
  systemMounts,
  type WorkerFolders,
} from './system-view.js';

/** What every lane's policy is made from. */
export interface PolicyFacts {
  readonly machine: MachineFacts;
  readonly folders: WorkerFolders;
  /** Where the command starts: absolute, in the lane. */
  readonly workingDirectory: string;
  readonly limits?: Limits | undefined;
  /** None by default. */
  readonly network?: NetworkPolicy | undefined;
  /** Pinned by `pinSharedCaches`. */
  readonly caches?: readonly SharedCache[] | undefined;
}

/** What a worktree lane's view needs to know of the repository. */
export interface RepositoryFacts {
  /** The text of the shared configuration. */
  readonly config: string;
  /**
   * Paths, relative to the common directory, of what is neither file nor folder in it and in the siblings' metadata:
   * daemons listen there, and a read-only mount keeps nobody from connecting.
   */
  readonly sockets: readonly string[];
}

/**
 * A linked worktree with shared Git storage. Writable: the worktree, its own metadata, and the objects, refs
 * and ref logs of the repository. Read-only: everything that says where Git looks or what it runs, and the
 * siblings' metadata (hidden, Git would check out a sibling's branch). The checkout's files are not there.
 */
export function worktreePolicy(
  facts: PolicyFacts & { lane: WorktreeLane; repository: RepositoryFacts },
): Policy {
  const { root, lanePath, commonDir: common, metadataDir: metadata, alternates } = facts.lane;
  return assemble(
    facts,
    root,
    { kind: 'worktree', top: lanePath, commonDir: common, metadataDir: metadata },
    [
      ...emptied(root),
      ...openedInside(facts.machine, root),
      pinned('writable', lanePath, 'worktree'),
      pinned('readable', `${lanePath}/.git`, 'pointer'),
      pinned('readable', common, 'commonDir'),
      { kind: 'text', path: `${common}/config`, text: withPreciousObjects(facts.repository.config) },
      pinned('writable', `${common}/objects`, 'objects'),
      // A planted alternates file would choose what the next call may read.
      pinned('readable', `${common}/objects/info`, 'objects/info'),
      pinned('writable', `${common}/refs`, 'refs'),
      pinned('writable', `${common}/logs/refs`, 'logs/refs'),
      pinned('readable', `${common}/worktrees`, 'worktrees'),
      ...facts.repository.sockets.map((name): Mount => ({ kind: 'masked', path: `${common}/${name}` })),
      pinned('writable', metadata, 'metadata'),
      pinned('readable', `${metadata}/commondir`, 'commondir'),
      pinned('readable', `${metadata}/gitdir`, 'gitdir'),
      pinned('readable', `${metadata}/config.worktree`, 'config.worktree'),
      ...alternates.map(borrowed),
      { kind: 'sealed', path: root },
    ],
  );
}

/**
 * A whole checkout with the lanes beneath it. Its `.git` is mounted onto itself, since renaming it would shed
 * what is pinned inside; hooks and the shared configuration are read-only. Nothing beneath `worktrees/` is a
 * mount, so that worktrees can be added and removed.
 */
export function checkoutPolicy(facts: PolicyFacts & { lane: CheckoutLane }): Policy {
  const { root, gitDir, alternates } = facts.lane;
  return assemble(facts, root, { kind: 'checkout', top: root, commonDir: gitDir }, [
    pinned('writable', root, 'root'),
    pinned('writable', gitDir, 'gitDir'),
    pinned('readable', `${gitDir}/hooks`, 'hooks'),
    pinned('readable', `${gitDir}/config`, 'config'),
    ...alternates.filter((path) => !liesIn(path, root)).map(borrowed),
  ]);
}

/** A root that is no repository: all of it is writable, nothing else is. */
export function plainRootPolicy(facts: PolicyFacts & { lane: PlainLane }): Policy {
  const { root } = facts.lane;
  return assemble(facts, root, { kind: 'plain', top: root }, [pinned('writable', root, 'root')]);
}

function assemble(
  facts: PolicyFacts,
  root: string,
  git: Parameters<typeof gitEnvironment>[0],
  laneMounts: readonly Mount[],
): Policy {
  const { limits = defaultLimits, network = noNetwork, caches = [] } = facts;
  const networked = network.kind !== 'none';
  return {
    mounts: [
      ...manyMountsLast([
        ...systemMounts(facts.machine, facts.folders, limits, root),
        ...laneMounts,
        ...cacheMounts(caches),
        ...(networked ? listenerMounts(facts.machine) : []),
      ]),
      // Else the empty top of the view would be unbounded memory for whoever writes there.
      { kind: 'sealed', path: '/' },
    ],
    environment: {
      ...systemEnvironment(facts.machine),
      ...gitEnvironment(git, insidePaths.gitConfig),
      ...(networked ? proxyEnvironment() : {}),
      ...cacheVariables(caches),
    },
    workingDirectory: facts.workingDirectory,
    network,
    limits,
  };
}

/** Every hierarchy of control groups is a mount of its own in there. */
const manyMounts = '/sys';

/** Bubblewrap reads the whole table of mounts at each one that it makes: what fills the table waits for the others. */
function manyMountsLast(mounts: readonly Mount[]): readonly Mount[] {
  const stands = ({ path }: Mount): boolean => path === manyMounts;
  if (mounts.some((mount) => !stands(mount) && liesIn(mount.path, manyMounts))) return mounts;
  return [...mounts.filter((mount) => !stands(mount)), ...mounts.filter(stands)];
}

/** What opens the listener of the call's proxy, where the machine's own programs cannot. */
function listenerMounts({ perl }: MachineFacts): Mount[] {
  if (!needsNode({ perl, arch: process.arch })) return [];
  return [{ kind: 'readable', path: insideNode, source: { from: 'path', path: process.execPath } }];
}

function borrowed(path: string): Mount {
  return { kind: 'readable', path, source: { from: 'path', path } };
}

function pinned(kind: 'readable' | 'writable', path: string, name: string): Mount {
  const source: Source = { from: 'descriptor', name };
  return { kind, path, source };
}

/**
 * The shared configuration as a worktree lane sees it: marked so that Git itself refuses to drop objects,
 * which siblings may need and only they know of, by whatever way it is asked.
 */
function withPreciousObjects(config: string): string {
  return `${config}${config.endsWith('\n') || config === '' ? '' : '\n'}[extensions]\n\tpreciousObjects = true\n`;
}
