import type { MachineFacts } from './machine-facts.js';
import { liesIn } from '../files/lies-in.js';
import type { Limits, Mount } from './policy.js';

/** Where a sandbox finds what the worker made for it. */
export const insidePaths = {
  home: '/run/codelanes/home',
  bin: '/run/codelanes/bin',
  gitConfig: '/run/codelanes/gitconfig',
} as const;

/** What the worker made for a lane, on the host. */
export interface WorkerFolders {
  /** The worker's own state, which no sandbox shows. */
  readonly state: string;
  /** The lane's home, which is kept from call to call. */
  readonly home: string;
  /** The folder with the `git` that explains refusals. */
  readonly bin: string;
  /** The global Git configuration that the worker wrote. */
  readonly gitConfig: string;
}

/**
 * The part of a view that does not depend on the lane: an allow-list of system directories with secrets
 * masked, known tool chains of the operator's home, fresh temporary folders, and a home of the lane's own.
 * `hidden` is the lane's root: what the operator opened inside it is left to the caller.
 */
export function systemMounts(
  machine: MachineFacts,
  folders: WorkerFolders,
  limits: Limits,
  hidden: string,
): Mount[] {
  const visible = [...machine.readableDirectories, ...openedOutside(machine, hidden)];
  return [
    ...machine.readableDirectories
      .filter((path) => !liesIn(path, '/run') && !liesIn(path, '/var'))
      .map(readable),
    ...machine.links.map(({ path, target }): Mount => ({ kind: 'symlink', path, target })),
    ...machine.secretFiles.map((path): Mount => ({ kind: 'masked', path })),
    ...machine.secretDirectories.flatMap((path) => emptied(path)),
    { kind: 'devices', path: '/dev' },
    { kind: 'temporary', path: '/dev/shm', bytes: limits.sharedMemoryBytes },
    { kind: 'sealed', path: '/dev' },
    { kind: 'processes', path: '/proc' },
    // Root of the machine could write the kernel's settings through a fresh /proc.
    readable('/proc/sys'),
    { kind: 'temporary', path: '/tmp', bytes: limits.temporaryBytes },
    { kind: 'temporary', path: '/run', bytes: limits.sharedMemoryBytes },
    { kind: 'directory', path: '/var' },
    { kind: 'temporary', path: '/var/tmp', bytes: limits.sharedMemoryBytes },
    { kind: 'symlink', path: '/var/run', target: '/run' },
    ...machine.readableDirectories
      .filter((path) => liesIn(path, '/run') || liesIn(path, '/var'))
      .map(readable),
    ...(machine.resolverFile === undefined ? [] : [readable(machine.resolverFile)]),
    // A sibling lane's tree is not to be seen only because it was put among the system's folders.
    ...machine.served
      .filter((path) => machine.readableDirectories.some((shown) => liesIn(path, shown)))
      .flatMap((path) => emptied(path)),
    ...openedOutside(machine, hidden).map(readable),
    ...(visible.some((path) => liesIn(machine.home, path) && machine.home !== '/')
      ? emptied(machine.home)
      : []),
    ...machine.toolchains.map(readable),
    ...(visible.some((path) => liesIn(folders.state, path)) ? emptied(folders.state) : []),
    ...machine.closed
      .filter((closed) => [...visible, ...machine.toolchains].some((path) => liesIn(closed, path)))
      .flatMap((path) => emptied(path)),
    { kind: 'writable', path: insidePaths.home, source: { from: 'path', path: folders.home } },
    { kind: 'readable', path: insidePaths.bin, source: { from: 'path', path: folders.bin } },
    { kind: 'readable', path: insidePaths.gitConfig, source: { from: 'path', path: folders.gitConfig } },
  ];
}

/** The operator's additions that lie inside the lane's root, to be mounted once that is hidden. */
export function openedInside(machine: MachineFacts, hidden: string): Mount[] {
  return machine.read.filter((path) => liesIn(path, hidden)).map(readable);
}

/** An empty folder in place of what is there. Places for mounts beneath can still be made in it. */
export function emptied(path: string): Mount[] {
  return [{ kind: 'temporary', path, bytes: 1024 ** 2 }];
}

/** The variables that do not depend on the lane. */
export function systemEnvironment(machine: MachineFacts): Record<string, string> {
  const toolHome = (name: string): string | undefined =>
    machine.toolchains.find((path) => path === `${machine.home}/${name}`);
  const rustup = toolHome('.rustup');
  const pyenv = toolHome('.pyenv');
  const system = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
  return {
    PATH: [...new Set([insidePaths.bin, ...machine.searchPath, ...system])].join(':'),
    HOME: insidePaths.home,
    USER: 'codelanes',
    LOGNAME: 'codelanes',
    SHELL: machine.shell,
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
    CARGO_HOME: `${insidePaths.home}/.cargo`,
    ...(rustup === undefined ? {} : { RUSTUP_HOME: rustup }),
    ...(pyenv === undefined ? {} : { PYENV_ROOT: pyenv }),
  };
}

function openedOutside(machine: MachineFacts, hidden: string): string[] {
  return machine.read.filter((path) => !liesIn(path, hidden));
}

function readable(path: string): Mount {
  return { kind: 'readable', path, source: { from: 'path', path } };
}
