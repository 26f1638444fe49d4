import { environmentSchema, type EnvironmentDefinition } from './definition.js';
import { DefinitionError } from './definition-error.js';
import { faultsOf } from './issue-faults.js';
import { YamlSource } from './yaml-source.js';

/** A definition that is right in itself, with the text in which faults of its surroundings are shown. */
export interface ParsedDefinition {
  readonly definition: EnvironmentDefinition;
  readonly source: YamlSource;
}

/**
 * Reads a definition from YAML: core schema, unique keys, no aliases, no unknown keys. Looks at nothing but the
 * text.
 *
 * @throws {DefinitionError} with every fault, in the order of the text.
 */
export function parseDefinition(text: string, file: string): ParsedDefinition {
  const source = new YamlSource(text, file);
  const parsed = environmentSchema.safeParse(source.value);
  if (!parsed.success) throw DefinitionError.of(file, faultsOf(parsed.error.issues, source));
  return { definition: parsed.data, source };
}
