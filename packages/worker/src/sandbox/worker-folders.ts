import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { globalConfigText, type GlobalSettings } from '../git/global-config.js';
import { writeGitShim } from '../git/shim.js';
import { laneHome, type HomeOwner } from './lane-home.js';
import type { WorkerFolders } from './system-view.js';

export interface SharedFolders extends Omit<WorkerFolders, 'home'> {
  /** The Git that the worker found, which the shim passes calls on to. */
  readonly realGit: string;
}

/** Writes what every sandbox of a worker shares, once at its start. `state` is the worker's own folder, mode 0700. */
export function writeSharedFolders(state: string, realGit: string, settings: GlobalSettings): SharedFolders {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const gitConfig = join(state, 'gitconfig');
  writeFileSync(`${gitConfig}.new`, globalConfigText(settings), { mode: 0o644 });
  renameSync(`${gitConfig}.new`, gitConfig);
  return { state, gitConfig, realGit, bin: writeGitShim(join(state, 'bin'), realGit) };
}

/** The folders of one lane, with its home as `laneHome` keeps it. */
export function laneFolders(shared: SharedFolders, owner: HomeOwner): WorkerFolders {
  const { state, bin, gitConfig } = shared;
  return { state, bin, gitConfig, home: laneHome(state, owner) };
}
