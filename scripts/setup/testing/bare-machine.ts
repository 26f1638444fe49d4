import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wantedPackageManager } from '../package-manager.mjs';
import { repositoryRoot } from '../run.mjs';

/** Writes down how it was called, and fails where `FAILS` names that call. */
const told = `#!/bin/sh
call="\${0##*/} $*"
echo "$call" >> "$MACHINE/calls"
case "$call" in "$FAILS"*) echo "E: no route to $call" >&2; exit 100;; esac
`;

const pnpm = `#!/bin/sh
[ "$1" = --version ] && { echo ${wantedPackageManager.slice('pnpm@'.length)}; exit; }
${told}`;

const npm = `#!/bin/sh
[ "$1" = prefix ] && { echo "$MACHINE"; exit; }
${told}
/bin/cp -p "$MACHINE/later/pnpm" "$MACHINE/bin/pnpm"
`;

const aptGet = `${told}
[ "$1" = install ] && for program in bwrap git rg flock; do : > "$MACHINE/bin/$program"; done
exit 0
`;

export interface SetupRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The programs that were called, in their order, but for questions that change nothing. */
  readonly calls: readonly string[];
}

/** A machine whose PATH has only what a fresh Debian has, each a stand-in that installs nothing outside of a folder. */
export class BareMachine {
  readonly #folder = mkdtempSync(join(tmpdir(), 'codelanes-bare-'));

  constructor() {
    for (const folder of ['bin', 'later', 'lib/node_modules']) {
      mkdirSync(join(this.#folder, folder), { recursive: true });
    }
    this.#program('bin/apt-get', aptGet);
    this.#program('bin/npm', npm);
    this.#program('later/pnpm', pnpm);
  }

  /** Runs setup in a user namespace, where who runs it is root, or is not, whoever runs the test. */
  setUp({ as = 'root', flags = [], fails = 'nothing' }: Partial<SetupSetting> = {}): SetupRun {
    chmodSync(join(this.#folder, 'lib/node_modules'), as === 'root' ? 0o755 : 0o555);
    rmSync(join(this.#folder, 'calls'), { force: true });
    const who = as === 'root' ? ['--map-root-user'] : ['--user'];
    const script = join(repositoryRoot, 'scripts/setup.mjs');
    const { status, stdout, stderr } = spawnSync(
      '/usr/bin/unshare',
      [...who, process.execPath, script, ...flags],
      {
        env: { PATH: join(this.#folder, 'bin'), MACHINE: this.#folder, FAILS: fails },
        encoding: 'utf8',
      },
    );
    return { status, stdout, stderr, calls: this.#calls() };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #calls(): readonly string[] {
    const file = join(this.#folder, 'calls');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  #program(path: string, text: string): void {
    writeFileSync(join(this.#folder, path), text, { mode: 0o755 });
  }
}

interface SetupSetting {
  readonly as: 'root' | 'somebody';
  readonly flags: readonly string[];
  /** How a call begins that fails. */
  readonly fails: string;
}
