import type { NetworkPolicy } from '../environment/network-policy.js';

/** What is mounted: a host path, or something that was opened and looked at beforehand and is named here. */
export type Source =
  { readonly from: 'path'; readonly path: string } | { readonly from: 'descriptor'; readonly name: string };

/**
 * One step of building the view, in order: a later step covers what an earlier one put at or beneath the
 * same path. `sealed` makes the mount at a path read-only after places for later mounts were made in it.
 */
export type Mount =
  | { readonly kind: 'readable' | 'writable'; readonly path: string; readonly source: Source }
  | { readonly kind: 'text'; readonly path: string; readonly text: string }
  | { readonly kind: 'masked'; readonly path: string }
  | { readonly kind: 'temporary'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'directory' | 'sealed' | 'devices' | 'processes'; readonly path: string }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string };

export interface Limits {
  /** Room in `/tmp`, in memory. */
  readonly temporaryBytes: number;
  /** Room in `/dev/shm`, `/run` and `/var/tmp` each, in memory. */
  readonly sharedMemoryBytes: number;
  /** Processes and threads at once; for a worker that is root the sum over its slots is what binds. */
  readonly processes: number;
  /** Largest file that a command may write. */
  readonly fileBytes: number;
}

export const defaultLimits: Limits = {
  temporaryBytes: 1024 ** 3,
  sharedMemoryBytes: 256 * 1024 ** 2,
  processes: 4096,
  fileBytes: 32 * 1024 ** 3,
};

/**
 * All that a call may see, change and know. Plain data: made by pure functions from facts gathered before,
 * tested as data, and turned into an argument list by `bwrapArguments`.
 */
export interface Policy {
  readonly mounts: readonly Mount[];
  /** The whole environment; nothing is inherited from the worker. */
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  /** Whatever it is, the sandbox has a namespace of its own with nothing but loopback; more is had through a proxy. */
  readonly network: NetworkPolicy;
  readonly limits: Limits;
  /** Its processes are held still at times, by `freeze`, and get no means to be woken by then. */
  readonly isHeldStill?: boolean | undefined;
}

/** The paths that a policy lets a call change, temporary folders excepted. */
export function writablePaths(policy: Policy): string[] {
  return policy.mounts.filter((mount) => mount.kind === 'writable').map((mount) => mount.path);
}
