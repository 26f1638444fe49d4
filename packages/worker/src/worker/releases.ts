import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { laneKey } from '@codelanes/protocol';
import { z } from 'zod';
import { readQuarantined, type QuarantinedLane } from '../lanes/quarantine.js';

/**
 * An operator's word that a quarantined lane may be used again, left as a file for the worker that serves it:
 * a running one takes it at once, a stopped one at its next start.
 */
const releaseSchema = z.strictObject({ version: z.literal(1), laneKey: z.string() });

/** A lane that a worker of this state folder has closed. */
export type ListedQuarantine = Pick<QuarantinedLane, 'lane' | 'reason' | 'since'>;

/** The lanes that are quarantined in a state folder, whether or not its worker runs. */
export async function listQuarantined(stateDir: string): Promise<ListedQuarantine[]> {
  const roots = join(stateDir, 'roots');
  if (!existsSync(roots)) return [];
  const lists = await Promise.all(
    readdirSync(roots).map((root) => readQuarantined(join(roots, root, 'quarantine'))),
  );
  return lists.flat().map(({ lane, reason, since }) => ({ lane, reason, since }));
}

const folderOf = (stateDir: string) => join(stateDir, 'releases');

/** Asks the worker of this state folder to give a lane back. */
export function requestRelease(stateDir: string, lane: readonly string[]): void {
  const folder = folderOf(stateDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const key = laneKey(lane);
  const name = createHash('sha256').update(key).digest('hex').slice(0, 32);
  writeFileSync(join(folder, `${name}.json`), JSON.stringify({ version: 1, laneKey: key }), { mode: 0o600 });
}

/** Hands every release, those that lie there already included, to `take` until the returned function is called. */
export function watchReleases(stateDir: string, take: (laneKey: string) => void): () => void {
  const folder = folderOf(stateDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const look = () => {
    for (const name of readdirSync(folder)) takeOne(join(folder, name), take);
  };
  const watcher = watch(folder, look);
  look();
  return () => {
    watcher.close();
  };
}

function takeOne(file: string, take: (laneKey: string) => void): void {
  // The watcher speaks twice of most files, and the first time it may still be empty.
  if (!existsSync(file)) return;
  const text = readFileSync(file, 'utf8');
  if (text === '') return;
  rmSync(file, { force: true });
  take(releaseSchema.parse(JSON.parse(text)).laneKey);
}
