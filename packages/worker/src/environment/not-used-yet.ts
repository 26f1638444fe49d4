import { faultLine } from './definition-error.js';
import type { LoadedDefinition } from './load-definition.js';
import type { KeyPath } from './yaml-source.js';

/**
 * What a definition asks for and this version does not do, a line for each with file, line and column. It is served
 * without: nothing is opened by that, but nothing that an operator asks for may be left out silently either.
 */
export function notUsedYet({ repositories, file, origin: { source } }: LoadedDefinition): readonly string[] {
  return repositories
    .map((_, index): KeyPath => ['repositories', index, 'credentials'])
    .filter((key) => source.has(key))
    .map((key) => faultLine(file, source.faultAt(key, sentence, 'key')));
}

const sentence =
  'checked, but not used yet by this version: setup and commands of this repository get no secret for its remote.';
