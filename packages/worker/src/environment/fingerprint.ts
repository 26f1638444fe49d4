import { createHash } from 'node:crypto';
import type { EnvironmentDefinition } from './definition.js';
import type { RepositoryDefinition } from './repository.js';

/**
 * What callers are told of a definition, so that a name they send means what they saw: SHA-256 in hex over the
 * definition with its canonical root, in an order of keys that gives a definition without the newer keys the same
 * fingerprint as the existing worker does.
 */
export function environmentFingerprint(definition: EnvironmentDefinition, root: string): string {
  const { name, root: _, repo, ref, setup, actions, ...newer } = definition;
  return sha256({ name, root, repo, ref, setup, actions, ...newer });
}

/** As that of an environment, of one repository alone: a change of another does not touch it. */
export function repositoryFingerprint(repository: RepositoryDefinition, checkout: string): string {
  return sha256({ ...repository, checkout });
}

function sha256(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
