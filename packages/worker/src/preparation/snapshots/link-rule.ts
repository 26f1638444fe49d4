import { segmentsOf } from '../../files/directory.js';

/**
 * Whether a symbolic link at `path`, relative to a root, may lead out of that root. One that stays in it is relative and
 * climbs only at its beginning, no higher than the root: after a name that is itself a link, `..` would be anywhere.
 */
export function mayLeaveRoot(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/')) return true;
  const depth = segmentsOf(path).length - 1;
  const segments = target.split('/').filter((segment) => segment !== '' && segment !== '.');
  const firstName = segments.findIndex((segment) => segment !== '..');
  const climbed = firstName === -1 ? segments.length : firstName;
  return climbed > depth || segments.slice(climbed).includes('..');
}
