import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants, copyFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll } from 'vitest';

/** Mounts a new XFS, says so, and unmounts it when its input ends, which it does with this process however that ends. */
const mountWhileAsked = `
  set -e
  trap '' HUP INT TERM
  truncate -s 512M "$1/image"
  mkfs.xfs -q "$1/image"
  mkdir "$1/mounted"
  mount -o loop "$1/image" "$1/mounted"
  trap 'umount "$1/mounted" || umount -l "$1/mounted"; rm -r "$1"' EXIT
  echo mounted
  cat > /dev/null
`;

/**
 * An empty folder on a file system that can clone files: the one of temporary files, where it can, else one in an image
 * on a loop device, which takes root and Debian's xfsprogs.
 */
export class CloningFolder {
  /** To be called where a file of tests begins: the one that its tests share, once they run. */
  static forTests(): () => CloningFolder {
    let disk: CloningFolder | undefined;
    beforeAll(async () => {
      disk = await CloningFolder.make();
    });
    afterAll(() => disk?.remove());
    return () => {
      if (disk === undefined) throw new Error('The folder serves tests only.');
      return disk;
    };
  }

  readonly path: string;
  readonly #keeper: ChildProcess | undefined;

  private constructor(path: string, keeper?: ChildProcess) {
    this.path = path;
    this.#keeper = keeper;
  }

  private static async make(): Promise<CloningFolder> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-cloning-')));
    if (canClone(folder)) return new CloningFolder(folder);
    const keeper = spawn('sh', ['-c', mountWhileAsked, 'sh', folder], {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const said = text(keeper.stderr);
    const isMounted = await Promise.race([
      once(keeper.stdout, 'data').then(() => true),
      once(keeper, 'exit').then(() => false),
    ]);
    if (isMounted) return new CloningFolder(join(folder, 'mounted'), keeper);
    rmSync(folder, { recursive: true, force: true });
    throw new Error(
      `These tests need a file system that can clone files: be root with xfsprogs and loop devices, or let TMPDIR be on Btrfs or XFS. ${await said}`,
    );
  }

  async remove(): Promise<void> {
    if (this.#keeper === undefined) {
      rmSync(this.path, { recursive: true, force: true });
      return;
    }
    const exited = once(this.#keeper, 'exit');
    this.#keeper.stdin?.end();
    await exited;
  }
}

function canClone(folder: string): boolean {
  const [one, other] = [join(folder, 'one'), join(folder, 'other')];
  writeFileSync(one, 'a file to clone');
  try {
    copyFileSync(one, other, constants.COPYFILE_FICLONE_FORCE);
    rmSync(other);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(one);
  }
}
