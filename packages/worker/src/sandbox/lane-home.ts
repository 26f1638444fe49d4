import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder } from './remove-folder.js';
import { movedUpPrefix } from './remove-tree.js';

/** Whose home it is. */
export interface HomeOwner {
  /** Names the lane among those of a state folder. */
  readonly lane: string;
  /** Tells what stands in the lane's place from what stood there before it. */
  readonly tree: string;
}

/** Begins the names of homes that are being removed; no digest does. */
const removedPrefix = 'removed-';

/**
 * The home of a lane, made at first sight and kept from call to call for as long as the same tree stands there. One
 * that is made anew under its name finds a new home: what commands of the one before left (settings of shells,
 * caches, helpers that give out credentials) is out of reach when this returns, and removed soon after.
 */
export function laneHome(state: string, owner: HomeOwner): string {
  const homes = homesIn(state);
  const lane = digestOf(owner.lane);
  const home = join(homes, `${lane}-${digestOf(owner.tree)}`);
  if (existsSync(home)) return home;
  mkdirSync(homes, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(homes)) if (name.startsWith(lane)) retire(homes, name);
  mkdirSync(home, { mode: 0o700 });
  return home;
}

/** Removes what an earlier worker had no time to remove. */
export async function removeRetiredHomes(state: string): Promise<void> {
  const homes = homesIn(state);
  if (!existsSync(homes)) return;
  const retired = readdirSync(homes).filter(
    (name) => name.startsWith(removedPrefix) || name.startsWith(movedUpPrefix),
  );
  await Promise.all(retired.map((name) => removeFolder(join(homes, name))));
}

/** Large ones take their time; one that cannot be removed now is tried again at the worker's next start. */
function retire(homes: string, name: string): void {
  const retired = join(homes, `${removedPrefix}${randomBytes(16).toString('hex')}`);
  renameSync(join(homes, name), retired);
  removeFolder(retired).catch(() => undefined);
}

function homesIn(state: string): string {
  return join(state, 'homes');
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
