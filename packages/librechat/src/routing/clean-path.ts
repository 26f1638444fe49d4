import { locate, type AdvertisedLanes } from './lane-locator.js';

/** What LibreChat shows before every path, and models copy. */
export const shownPrefix = 'workspace/';

/**
 * A path as the model meant it: without `./`, `//` and a `/` at the end, and without a leading `workspace/` where what
 * follows lies in a lane and the whole does not. The workspace itself becomes `''`. What may not be sent stays so.
 */
export function cleanPath(value: string, lanes: AdvertisedLanes): string {
  // An absolute path stays one, so that it is refused.
  if (value.startsWith('/')) return value;
  const path = value
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
  const rest = path.startsWith(shownPrefix) ? path.slice(shownPrefix.length) : undefined;
  return rest !== undefined && !liesInLane(path, lanes) && liesInLane(rest, lanes) ? rest : path;
}

function liesInLane(path: string, lanes: AdvertisedLanes): boolean {
  return typeof locate(path, lanes) !== 'string';
}
