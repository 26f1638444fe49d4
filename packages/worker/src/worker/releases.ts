import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { laneKey } from '@codelanes/protocol';
import { z } from 'zod';
import { leaveRequest, watchRequests, type RequestTaker } from '../files/request-folder.js';
import { readQuarantined, type QuarantinedLane } from '../lanes/quarantine.js';

/** An operator's word that a quarantined lane may be used again. */
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
    leaveRequest(folderOf(rootState), name, { version: 1, laneKey: key });
    requested = true;
  }
  return requested;
}

/** Hands over every release of a root, as `watchRequests` does, until the returned function is called. */
export function watchReleases(
  rootState: string,
  { take, onError }: Pick<RequestTaker<string>, 'take' | 'onError'>,
): () => void {
  return watchRequests(folderOf(rootState), {
    schema: releaseSchema,
    take: (release) => {
      take(release.laneKey);
    },
    onError,
  });
}
