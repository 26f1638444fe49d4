import { closeSync, constants, mkdirSync, openSync, readFileSync } from 'node:fs';
import { CodelanesError } from '@codelanes/protocol';
import { Directory, type Entry } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';
import type { CheckoutLane, LaneFacts, WorktreeLane } from './lane-facts.js';

/**
 * Places that were opened without following a link, by the names that policies use for them. Mounting the
 * descriptor mounts that very file or folder, so nothing that is exchanged afterwards can redirect a mount.
 */
export class Pins {
  readonly #descriptors = new Map<string, number>();

  /** Name and descriptor of each pin. */
  get descriptors(): ReadonlyMap<string, number> {
    return this.#descriptors;
  }

  hold(name: string, descriptor: number): void {
    this.#descriptors.set(name, descriptor);
  }

  close(): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
    this.#descriptors.clear();
  }
}

/**
 * Opens all that a lane's mounts stand on. Missing folders of the usual Git layout (`logs/refs`, `hooks`,
 * `objects/info`) are made, and an empty `config.worktree`, so that each can be pinned.
 *
 * @throws {CodelanesError} `COMMAND_UNAVAILABLE` where something is a link or of another kind than Git makes it.
 */
export function openPins(lane: LaneFacts): Pins {
  const pins = new Pins();
  try {
    if (lane.kind === 'worktree') pinWorktree(pins, lane);
    else if (lane.kind === 'checkout') pinCheckout(pins, lane);
    else pins.hold('root', Directory.open(lane.root).fd);
    return pins;
  } catch (error) {
    pins.close();
    if (!(error instanceof FileRefusal)) throw error;
    throw new CodelanesError(
      'COMMAND_UNAVAILABLE',
      `The sandbox cannot be built, since part of the Git storage is not what Git makes it: ${error.message}`,
      { cause: error },
    );
  }
}

function pinWorktree(pins: Pins, lane: WorktreeLane): void {
  const worktree = held(lane.descriptors.worktree);
  const metadata = held(lane.descriptors.metadata);
  const common = Directory.open(lane.commonDir);
  try {
    pins.hold('worktree', worktree.again().fd);
    pins.hold('pointer', fileIn(worktree, '.git'));
    pins.hold('metadata', metadata.again().fd);
    pins.hold('commondir', fileIn(metadata, 'commondir'));
    pins.hold('gitdir', fileIn(metadata, 'gitdir'));
    // Switched on by whoever uses sparse checkouts, it would make Git at the operator's hand run lane-written settings.
    createEmpty(metadata, 'config.worktree');
    pins.hold('config.worktree', fileIn(metadata, 'config.worktree'));
    pins.hold('commonDir', common.again().fd);
    pins.hold('config', fileIn(common, 'config'));
    for (const [name, segments] of sharedStorage) pins.hold(name, made(common, segments));
  } finally {
    worktree.close();
    metadata.close();
    common.close();
  }
}

const sharedStorage: readonly (readonly [name: string, segments: readonly string[]])[] = [
  ['objects', ['objects']],
  ['objects/info', ['objects', 'info']],
  ['refs', ['refs']],
  ['logs/refs', ['logs', 'refs']],
  ['worktrees', ['worktrees']],
];

function pinCheckout(pins: Pins, lane: CheckoutLane): void {
  const git = held(lane.descriptors.git);
  try {
    pins.hold('root', held(lane.descriptors.root).fd);
    pins.hold('gitDir', git.again().fd);
    pins.hold('hooks', made(git, ['hooks']));
    pins.hold('config', fileIn(git, 'config'));
  } finally {
    git.close();
  }
}

/** A second handle on a directory that the caller holds and keeps. */
function held(descriptor: number): Directory {
  return Directory.open(`/proc/self/fd/${descriptor}`);
}

function fileIn(directory: Directory, name: string): number {
  const entry: Entry = directory.entry(name);
  if (entry.kind === 'file') return entry.fd;
  closeSync(entry.fd);
  throw new FileRefusal('not_a_file', name, `"${name}" is not a regular file.`);
}

/** The descriptor of a folder, which is made where it is missing. */
function made(start: Directory, segments: readonly string[]): number {
  let parent: Directory | undefined;
  for (const segment of segments) {
    const above = parent;
    try {
      parent = childOf(above ?? start, segment);
    } finally {
      above?.close();
    }
  }
  return (parent ?? start.again()).fd;
}

function childOf(parent: Directory, name: string): Directory {
  const found = parent.find(name);
  if (found !== undefined) return Directory.of(found);
  mkdirSync(parent.place(name));
  return parent.child(name);
}

function createEmpty(directory: Directory, name: string): void {
  if (directory.look(name) !== undefined) return;
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants;
  closeSync(openSync(directory.place(name), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o644));
}

/** The text of a pinned regular file. */
export function readPinned(pins: Pins, name: string): string {
  const descriptor = pins.descriptors.get(name);
  if (descriptor === undefined) throw new Error(`Nothing is pinned as "${name}".`);
  return readFileSync(`/proc/self/fd/${descriptor}`, 'utf8');
}
