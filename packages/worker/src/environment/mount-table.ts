import { readFileSync } from 'node:fs';
import { liesIn } from '../files/lies-in.js';

/** Where a path lies on its file system, which is the same by whatever mount it is reached. */
export interface FileSystemPlace {
  /** `major:minor` as the kernel's mount table names the device. */
  readonly device: string;
  readonly path: string;
}

interface Mount extends FileSystemPlace {
  readonly mountPoint: string;
}

/** The mounts of this process, by which one folder can bear several paths. */
export class MountTable {
  readonly #mounts: readonly Mount[];

  constructor(text: string) {
    this.#mounts = text.split('\n').flatMap((line) => {
      const [, , device, path, mountPoint] = line.split(' ');
      if (device === undefined || path === undefined || mountPoint === undefined) return [];
      return [{ device, path: unescaped(path), mountPoint: unescaped(mountPoint) }];
    });
  }

  static ofThisProcess(): MountTable {
    return new MountTable(readFileSync('/proc/self/mountinfo', 'utf8'));
  }

  /** Where a canonical path lies. */
  placeOf(path: string): FileSystemPlace | undefined {
    let nearest: Mount | undefined;
    for (const mount of this.#mounts) {
      if (!liesIn(path, mount.mountPoint)) continue;
      // Of two mounts at one point the later hides the earlier.
      if (nearest === undefined || mount.mountPoint.length >= nearest.mountPoint.length) nearest = mount;
    }
    if (nearest === undefined) return undefined;
    const rest = path.slice(nearest.mountPoint === '/' ? 0 : nearest.mountPoint.length);
    return { device: nearest.device, path: joined(nearest.path, rest) };
  }

  /** Everything that can be reached beneath a canonical folder: itself, and what is mounted in it. */
  reachedFrom(folder: string): readonly FileSystemPlace[] {
    const own = this.placeOf(folder);
    const mounted = this.#mounts.filter(
      ({ mountPoint }) => mountPoint !== folder && liesIn(mountPoint, folder),
    );
    return own === undefined ? mounted : [own, ...mounted];
  }

  /** Whether a canonical path can be reached from a canonical folder by any name. */
  isReachable(path: string, folder: string): boolean {
    if (liesIn(path, folder)) return true;
    const place = this.placeOf(path);
    return (
      place !== undefined &&
      this.reachedFrom(folder).some(
        (reached) => reached.device === place.device && liesIn(place.path, reached.path),
      )
    );
  }
}

/** The kernel writes blanks and backslashes as three octal digits. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/gu, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function joined(folder: string, rest: string): string {
  const path = `${folder}/${rest}`.replace(/\/+/gu, '/').replace(/\/$/u, '');
  return path === '' ? '/' : path;
}
