import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { findPerl } from '../network/listener-program.js';
import { liesIn } from '../files/lies-in.js';
import { privatePlaces } from './private-places.js';

/** What of this machine a sandbox shows, gathered once when the worker starts. Every path exists. */
export interface MachineFacts {
  /** The shell that runs commands: bash where there is one. */
  readonly shell: string;
  readonly readableDirectories: readonly string[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  readonly secretFiles: readonly string[];
  readonly secretDirectories: readonly string[];
  /** The operator's home, which is not shown. */
  readonly home: string;
  /** Folders of known tool chains in that home. */
  readonly toolchains: readonly string[];
  /** The machine's Perl, which opens a call's listener faster than Node does. */
  readonly perl?: string | undefined;
  /** Where `/etc/resolv.conf` leads, if that is a place in `/run`. */
  readonly resolverFile?: string | undefined;
  /** The operator's search path, as far as a sandbox shows it. */
  readonly searchPath: readonly string[];
  /** Paths that the operator opened for reading. */
  readonly read: readonly string[];
  /** The folders in which this worker serves lanes; where they lie in one that every sandbox shows, they are not. */
  readonly served: readonly string[];
  /** Folders that no sandbox shows, wherever they lie: stores of snapshots. */
  readonly closed: readonly string[];
}

const mergedDirectories = ['/bin', '/sbin', '/lib', '/lib32', '/lib64'];
const systemDirectories = [
  '/usr',
  '/etc',
  '/opt',
  '/nix',
  '/run/current-system',
  '/sys',
  '/var/lib/dpkg',
  '/var/cache/fontconfig',
];
const secretFiles = ['shadow', 'shadow-', 'gshadow', 'gshadow-', 'sudoers'].map((name) => `/etc/${name}`);
const secretDirectories = [
  ...['ssh', 'ssl/private', 'sudoers.d', 'docker', 'kubernetes'].map((name) => `/etc/${name}`),
  // A read-only mount does not keep anybody from talking to a daemon.
  '/nix/var/nix/daemon-socket',
];
/** Never `.cargo` itself, nor any other folder that also keeps credentials. */
const toolchainFolders = [
  '.pyenv',
  '.rustup',
  '.cargo/bin',
  '.nvm',
  '.volta',
  '.asdf',
  '.sdkman',
  '.bun',
  '.deno',
  'go/bin',
  '.local/bin',
  '.local/lib',
  '.local/share/mise',
  '.local/share/pnpm',
];

export interface MachineOptions {
  readonly home: string;
  /** `PATH` of the worker. */
  readonly searchPath: string;
  /** Further paths that every sandbox may read: the operator's `sandbox.read`. */
  readonly read?: readonly string[] | undefined;
  /** Canonical paths of all roots of the worker. */
  readonly served?: readonly string[] | undefined;
  /** Folders that no sandbox is to show. */
  readonly closed?: readonly string[] | undefined;
}

/** Looks at this machine. Reads only; a listed `read` path that does not exist is left out. */
export function gatherMachineFacts(options: MachineOptions): MachineFacts {
  const home = canonical(options.home) ?? options.home;
  const readableDirectories = [
    ...systemDirectories,
    ...mergedDirectories.filter((path) => !isLink(path)),
  ].filter(isDirectory);
  const toolchains = toolchainFolders.map((name) => join(home, name)).filter(isDirectory);
  const read = (options.read ?? []).map(canonical).filter((path) => path !== undefined);
  const links = mergedDirectories.filter(isLink).map((path) => ({ path, target: readlinkSync(path) }));
  const visible = [...readableDirectories, ...links.map((link) => link.path), ...toolchains, ...read];
  const resolver = canonical('/etc/resolv.conf');
  const found = privatePlaces('/etc');
  return {
    shell: canonical('/bin/bash') === undefined ? '/bin/sh' : '/bin/bash',
    readableDirectories,
    links,
    secretFiles: [...new Set([...secretFiles.filter(exists), ...found.files])],
    secretDirectories: [...new Set([...secretDirectories.filter(isDirectory), ...found.directories])],
    home,
    perl: findPerl(),
    toolchains,
    resolverFile: resolver !== undefined && liesIn(resolver, '/run') ? resolver : undefined,
    searchPath: options.searchPath
      .split(delimiter)
      .filter((path) => isAbsolute(path) && visible.some((shown) => liesIn(path, shown))),
    read,
    served: options.served ?? [],
    closed: (options.closed ?? []).map(canonical).filter((path) => path !== undefined),
  };
}

/** The same facts without what is gone by now and was not to be shown: where there is nothing, nothing can be masked. */
export function presentFacts(machine: MachineFacts): MachineFacts {
  return {
    ...machine,
    secretFiles: machine.secretFiles.filter(exists),
    secretDirectories: machine.secretDirectories.filter(isDirectory),
    closed: machine.closed.filter(isDirectory),
  };
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function canonical(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
