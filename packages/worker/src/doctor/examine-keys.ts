import type { LoadedDefinition } from '../environment/load-definition.js';
import { notRunYet } from '../environment/not-run-yet.js';
import type { Finding } from './finding.js';

/** Which keys of a definition the worker refuses to start with, as it does not act upon them. */
export function examineKeys(definition: LoadedDefinition): readonly Finding[] {
  return notRunYet(definition).map(({ position, key, sentence }) => ({
    subject: 'keys',
    verdict: 'failed',
    sentence: `${definition.file}:${position?.line ?? 1}:${position?.column ?? 1}: ${key ?? ''}: ${sentence}`,
  }));
}
