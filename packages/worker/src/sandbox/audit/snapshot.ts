import { CodelanesError } from '@codelanes/protocol';
import { z } from 'zod';
import { Directory } from '../../files/directory.js';
import { FileRefusal } from '../../files/refusal.js';
import type { CheckoutLane } from '../lane-facts.js';
import { listGitlinks, placeOfGitlink } from './gitlinks.js';
import { baseOf, type OpenedPlaces, type PlaceName } from './opened-places.js';
import { placeSchema, readPlace } from './place.js';
import { watchedNames } from './watched-places.js';

/**
 * How everything stood before a call at the checkout by which Git can be made to run code or to look elsewhere.
 * Plain JSON: write and sync it before the call starts, so that the audit can also follow a crash.
 */
export const snapshotSchema = z.strictObject({
  root: z.string(),
  gitDir: z.string(),
  /** Device and inode of the Git directory and of its hooks. */
  identities: z.strictObject({ git: z.string(), hooks: z.string().nullable() }),
  places: z.record(z.string(), placeSchema),
  /** Where submodules lie, theirs included. */
  gitlinks: z.array(z.string()),
});
export type Snapshot = z.infer<typeof snapshotSchema>;

/**
 * Takes the snapshot of a checkout that no call runs in.
 *
 * @throws {CodelanesError} `COMMAND_UNAVAILABLE` where an index or a folder cannot be looked through: what a call adds
 *   to it could not be told from what was there.
 */
export function takeSnapshot(lane: CheckoutLane): Snapshot {
  try {
    return snapshotOf(lane);
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    throw new CodelanesError(
      'COMMAND_UNAVAILABLE',
      `The checkout cannot be looked through, so no command is run there: ${error.message} Let the worker's user read and enter what lies beneath ".git" and ".worktrees" again (chmod -R u+rwX).`,
      { cause: error },
    );
  }
}

function snapshotOf(lane: CheckoutLane): Snapshot {
  const root = Directory.open(`/proc/self/fd/${lane.descriptors.root}`);
  const git = Directory.open(`/proc/self/fd/${lane.descriptors.git}`);
  const opened = { root, git, rootPath: lane.root, gitPath: lane.gitDir };
  try {
    const gitlinks = readableGitlinks(opened);
    const places: Snapshot['places'] = {};
    for (const name of watchedNames(opened, gitlinks)) {
      const place = readPlace(baseOf(opened, name), name.segments);
      if (place !== undefined) places[keyOf(name)] = place;
    }
    return { root: lane.root, gitDir: lane.gitDir, identities: identitiesOf(git), places, gitlinks };
  } finally {
    git.close();
    root.close();
  }
}

function readableGitlinks(opened: OpenedPlaces): string[] {
  const { links, unreadable } = listGitlinks(opened);
  const [repository] = unreadable;
  if (repository === undefined) return links.map(placeOfGitlink);
  throw new CodelanesError(
    'COMMAND_UNAVAILABLE',
    `The Git index of ${repository === '' ? 'the checkout' : `the submodule "${repository}"`} cannot be looked through for submodules, so no command is run there: write it anew with "git read-tree HEAD".`,
  );
}

/** Which directories the Git directory and its hooks are, whatever is in them. */
export function identitiesOf(git: Directory): Snapshot['identities'] {
  const hooks = git.list().find((entry) => entry.name === 'hooks');
  if (hooks?.kind !== 'directory') return { git: identity(git), hooks: null };
  const directory = git.child('hooks');
  try {
    return { git: identity(git), hooks: identity(directory) };
  } finally {
    directory.close();
  }
}

/** A watched name as one string; names themselves hold no slash. */
export function keyOf(name: PlaceName): string {
  return `${name.base}/${name.segments.join('/')}`;
}

export function nameOf(key: string): PlaceName {
  const [base, ...segments] = key.split('/');
  return { base: base === 'git' ? 'git' : 'root', segments };
}

function identity(directory: Directory): string {
  return `${directory.stats.dev}:${directory.stats.ino}`;
}
