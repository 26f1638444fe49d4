import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of a test with definitions and checkouts in it; nothing in it is open to others, whatever the umask. */
export class MachineFixture {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-environment-')));

  path(relative: string): string {
    return join(this.folder, relative);
  }

  makeFolder(relative: string, mode = 0o755): string {
    const path = this.path(relative);
    mkdirSync(path, { recursive: true, mode });
    return path;
  }

  write(relative: string, text: string, mode = 0o644): string {
    const path = this.path(relative);
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    writeFileSync(path, text, { mode });
    return path;
  }

  /** As much of a repository as is looked at without Git. */
  makeCheckout(relative: string): string {
    this.makeFolder(`${relative}/.git/objects`);
    this.makeFolder(`${relative}/.git/refs`);
    return this.path(relative);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
