import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
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
  const roots = await quarantinesOf(stateDir);
  return roots.flatMap(({ lanes }) => lanes).map(({ lane, reason, since }) => ({ lane, reason, since }));
}

async function quarantinesOf(
  stateDir: string,
): Promise<{ readonly rootState: string; readonly lanes: readonly QuarantinedLane[] }[]> {
  const roots = join(stateDir, 'roots');
  if (!existsSync(roots)) return [];
  return Promise.all(
    readdirSync(roots).map(async (name) => {
      const rootState = join(roots, name);
      return { rootState, lanes: await readQuarantined(join(rootState, 'quarantine')) };
    }),
  );
}

const folderOf = (rootState: string) => join(rootState, 'releases');

/**
 * Asks whichever worker of this state folder has closed a lane to give it back; `false` where none has. Left with
 * the root that it is for: workers that share a state folder do not take each other's.
 */
export async function requestRelease(stateDir: string, lane: readonly string[]): Promise<boolean> {
  const key = laneKey(lane);
  const name = createHash('sha256').update(key).digest('hex').slice(0, 32);
  let requested = false;
  for (const { rootState, lanes } of await quarantinesOf(stateDir)) {
    if (!lanes.some((closed) => laneKey(closed.lane) === key)) continue;
    const folder = folderOf(rootState);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Written beside and renamed, so that the worker never reads half of it.
    const written = join(rootState, `release-${name}.new`);
    writeFileSync(written, JSON.stringify({ version: 1, laneKey: key }), { mode: 0o600 });
    renameSync(written, join(folder, `${name}.json`));
    requested = true;
  }
  return requested;
}

export interface ReleaseTaker {
  readonly take: (laneKey: string) => void;
  /** Told of a release that cannot be read; it is left where it lies. */
  readonly onError: (error: unknown) => void;
}

/** Hands over every release of a root, those that lie there already included, until the returned function is called. */
export function watchReleases(rootState: string, taker: ReleaseTaker): () => void {
  const folder = folderOf(rootState);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const look = () => {
    // A folder that somebody removed holds no release.
    if (!existsSync(folder)) return;
    for (const name of readdirSync(folder)) takeOne(join(folder, name), taker);
  };
  const watcher = watch(folder, look);
  look();
  return () => {
    watcher.close();
  };
}

function takeOne(file: string, { take, onError }: ReleaseTaker): void {
  // The watcher speaks twice of most files.
  if (!existsSync(file)) return;
  try {
    const { laneKey: key } = releaseSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    rmSync(file, { force: true });
    take(key);
  } catch (error) {
    onError(error);
  }
}
