import { z } from 'zod';
import { Directory } from '../../files/directory.js';
import type { CheckoutLane } from '../lane-facts.js';
import { listGitlinks } from './gitlinks.js';
import { placeSchema, readPlace } from './place.js';
import { watchedNames, type WatchedName } from './watched-places.js';

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
  /** Paths of submodules. */
  gitlinks: z.array(z.string()),
});
export type Snapshot = z.infer<typeof snapshotSchema>;

/** Takes the snapshot of a checkout that no call runs in. */
export function takeSnapshot(lane: CheckoutLane): Snapshot {
  const root = Directory.open(`/proc/self/fd/${lane.descriptors.root}`);
  const git = Directory.open(`/proc/self/fd/${lane.descriptors.git}`);
  try {
    const places: Snapshot['places'] = {};
    for (const name of watchedNames(root, git)) {
      const place = readPlace(name.base === 'git' ? git : root, name.segments);
      if (place !== undefined) places[keyOf(name)] = place;
    }
    return {
      root: lane.root,
      gitDir: lane.gitDir,
      identities: identitiesOf(git),
      places,
      gitlinks: listGitlinks(git),
    };
  } finally {
    git.close();
    root.close();
  }
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
export function keyOf(name: WatchedName): string {
  return `${name.base}/${name.segments.join('/')}`;
}

export function nameOf(key: string): WatchedName {
  const [base, ...segments] = key.split('/');
  return { base: base === 'git' ? 'git' : 'root', segments };
}

function identity(directory: Directory): string {
  return `${directory.stats.dev}:${directory.stats.ino}`;
}
