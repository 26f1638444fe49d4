import { DefinitionError, type DefinitionFault } from './definition-error.js';
import type { LoadedDefinition } from './load-definition.js';
import type { KeyPath } from './yaml-source.js';

/** The keys of a definition that are read and checked, but that this version does not act upon. */
export function notRunYet({
  repositories,
  origin: { source },
}: LoadedDefinition): readonly DefinitionFault[] {
  return repositories
    .map((_, index): KeyPath => ['repositories', index, 'credentials'])
    .filter((key) => source.has(key))
    .map((key) =>
      source.faultAt(key, 'is not run yet by this version; take it out to serve this without it.', 'key'),
    );
}

/**
 * Nothing that an operator asks for is left out silently.
 *
 * @throws {DefinitionError} naming the first key of a definition that the worker would not act upon.
 */
export function refuseNotRunYet(definition: LoadedDefinition): void {
  const [first] = notRunYet(definition);
  if (first !== undefined) throw new DefinitionError(definition.file, [first]);
}
