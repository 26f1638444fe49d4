import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ending } from '../../commands/running-command.js';
import { environmentSetupSchema } from '../../environment/setup.js';
import { Directory } from '../../files/directory.js';
import { prepare, type Prepared, type Step, type StepEnd } from '../prepare.js';
import type { CloningFolder } from './cloning-folder.js';

export interface StartChange {
  readonly command?: string;
  readonly checkCommand?: string;
  readonly paths?: readonly string[];
  readonly snapshot?: object;
  readonly store?: string;
  readonly signal?: AbortSignal;
  /** Called before each command is run. */
  readonly onStep?: (step: Step) => void;
}

/** Installs a package as a package manager does: a folder made anew, with a program and a link to it. */
const install = `
  printf . >> runs
  rm -rf node_modules && mkdir -p node_modules/.bin node_modules/pkg
  cat lock > node_modules/pkg/index.js
  ln -s ../pkg/index.js node_modules/.bin/pkg
`;

/** Roots with a lock file each, and a store, on a disk that can clone. */
export class SnapshotFixture {
  readonly folder: string;
  readonly store: string;
  readonly notes: string[] = [];

  constructor(disk: CloningFolder) {
    this.folder = join(disk.path, 'case');
    this.store = join(this.folder, 'store');
    mkdirSync(this.store, { recursive: true, mode: 0o700 });
    for (const root of ['a', 'b']) {
      mkdirSync(join(this.folder, root));
      writeFileSync(join(this.folder, root, 'lock'), 'one');
    }
  }

  at(...segments: readonly string[]): string {
    return join(this.folder, ...segments);
  }

  /** How often the setup of a root has run. */
  runs(root: string): number {
    const file = this.at(root, 'runs');
    return existsSync(file) ? readFileSync(file, 'utf8').length : 0;
  }

  installed(root: string): string {
    return readFileSync(this.at(root, 'node_modules/.bin/pkg'), 'utf8');
  }

  uninstall(root: string): void {
    rmSync(this.at(root, 'node_modules'), { recursive: true });
  }

  /** Where the store keeps the one snapshot that there is. */
  entry(...segments: readonly string[]): string {
    return join(this.store, 'snapshots', this.kept()[0] ?? 'none', ...segments);
  }

  /** Keys of what the store keeps. */
  kept(): readonly string[] {
    const folder = join(this.store, 'snapshots');
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  staged(): readonly string[] {
    return readdirSync(join(this.store, 'staging'));
  }

  /** One start of a worker for a root: nothing is kept in memory from the one before. */
  async start(root: string, change: StartChange = {}): Promise<Prepared> {
    const { command = install, checkCommand = 'test -d node_modules', paths = ['node_modules'] } = change;
    const { signal = new AbortController().signal, store = this.store, onStep, snapshot = {} } = change;
    const reuse = { inputs: ['lock'], checkCommand, snapshot: { store, paths, ...snapshot } };
    const top = Directory.open(this.at(root));
    try {
      return await prepare({
        top,
        setup: environmentSetupSchema.parse({ command, reuse }),
        context: {},
        folder: this.at(`state-of-${root}`),
        run: (step) => {
          onStep?.(step);
          return shell(step, this.at(root));
        },
        signal,
        note: (sentence) => this.notes.push(sentence),
      });
    } finally {
      top.close();
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** As the shell of a sandbox runs it, but for the wall. */
function shell({ command, timeoutMs }: Step, cwd: string): Promise<StepEnd> {
  return new Promise((resolve) => {
    const child = execFile('/bin/bash', ['-c', command], { cwd, timeout: timeoutMs }, () => {
      const ending: Ending = { kind: 'exited', code: child.exitCode ?? 1 };
      resolve({ ending, output: '' });
    });
  });
}
