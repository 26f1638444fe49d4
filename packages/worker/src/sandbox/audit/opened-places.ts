import { Directory } from '../../files/directory.js';

/** A checkout and its Git directory, opened, with their canonical paths. */
export interface OpenedPlaces {
  readonly root: Directory;
  readonly git: Directory;
  readonly rootPath: string;
  readonly gitPath: string;
}

/** Where something lies: segments beneath the checkout's root or beneath its Git directory. */
export interface PlaceName {
  readonly base: 'root' | 'git';
  readonly segments: readonly string[];
}

/** Opens both without following a link. The caller closes them. */
export function openPlaces(rootPath: string, gitPath: string): OpenedPlaces {
  const root = Directory.open(rootPath);
  try {
    return { root, git: root.child('.git'), rootPath, gitPath };
  } catch (error) {
    root.close();
    throw error;
  }
}

/** The directory that a name's segments start from. */
export function baseOf(places: OpenedPlaces, { base }: PlaceName): Directory {
  return base === 'git' ? places.git : places.root;
}
