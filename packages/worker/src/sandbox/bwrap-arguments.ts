import type { Mount, Policy, Source } from './policy.js';

/** Variable and value that mark every sandbox of one journal in its argument list. */
export function journalMark(journalId: string): readonly [string, string, string] {
  return ['--setenv', 'CODELANES_JOURNAL', journalId];
}

export interface BwrapOptions {
  readonly journalId: string;
  /** The number in the sandbox's start of each pinned source. */
  readonly descriptors: ReadonlyMap<string, number>;
  /** The same of each text that is mounted, by path. */
  readonly texts: ReadonlyMap<string, number>;
  /** The same of the program that refuses system calls. */
  readonly filter?: number | undefined;
  readonly statusDescriptor: number;
  /** Program and arguments, run as the first process of the sandbox. */
  readonly program: readonly string[];
}

/**
 * Bubblewrap's arguments for a policy. Always: every namespace of its own, no capability, no further user
 * namespaces, no network, a new session, death with the worker.
 *
 * @throws {Error} when a policy names a descriptor that is not given.
 */
export function bwrapArguments(policy: Policy, options: BwrapOptions): string[] {
  return [
    ...['--die-with-parent', '--new-session'],
    ...[
      '--unshare-user',
      '--unshare-pid',
      '--unshare-net',
      '--unshare-ipc',
      '--unshare-uts',
      '--unshare-cgroup-try',
    ],
    ...['--cap-drop', 'ALL', '--disable-userns'],
    ...journalMark(options.journalId),
    ...['--unsetenv', 'CODELANES_JOURNAL'],
    ...['--json-status-fd', String(options.statusDescriptor)],
    ...(options.filter === undefined ? [] : ['--seccomp', String(options.filter)]),
    ...policy.mounts.flatMap((mount) => mountArguments(mount, options)),
    ...['--chdir', policy.workingDirectory],
    '--',
    ...options.program,
  ];
}

function mountArguments(mount: Mount, options: BwrapOptions): string[] {
  switch (mount.kind) {
    case 'readable':
      return bind('ro-bind', mount.source, mount.path, options);
    case 'writable':
      return bind('bind', mount.source, mount.path, options);
    case 'text':
      return ['--ro-bind-data', numberOf(options.texts, mount.path), mount.path];
    case 'masked':
      return ['--ro-bind', '/dev/null', mount.path];
    case 'temporary':
      return ['--size', String(mount.bytes), '--tmpfs', mount.path];
    case 'directory':
      return ['--dir', mount.path];
    case 'symlink':
      return ['--symlink', mount.target, mount.path];
    case 'devices':
      return ['--dev', mount.path];
    case 'processes':
      return ['--proc', mount.path];
    case 'sealed':
      return ['--remount-ro', mount.path];
  }
}

function bind(how: 'bind' | 'ro-bind', source: Source, path: string, options: BwrapOptions): string[] {
  return source.from === 'path'
    ? [`--${how}`, source.path, path]
    : [`--${how}-fd`, numberOf(options.descriptors, source.name), path];
}

function numberOf(numbers: ReadonlyMap<string, number>, name: string): string {
  const number = numbers.get(name);
  if (number === undefined) throw new Error(`The policy mounts "${name}", which nobody has opened.`);
  return String(number);
}
