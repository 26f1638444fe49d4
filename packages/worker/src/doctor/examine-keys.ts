import type { LoadedDefinition } from '../environment/load-definition.js';
import { notUsedYet } from '../environment/not-used-yet.js';
import type { Finding } from './finding.js';

/** What a definition asks for and the worker serves it without. */
export function examineKeys(definition: LoadedDefinition): readonly Finding[] {
  return notUsedYet(definition).map((sentence) => ({ subject: 'keys', verdict: 'limited', sentence }));
}
