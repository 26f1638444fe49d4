import type { NewCall } from '../stored-call.js';

/** By what a call was let in, as scripts that enter calls take it after all else; nothing where it gives no grounds. */
export function groundsGiven({ grounds }: NewCall): readonly string[] {
  return grounds === undefined ? [] : [grounds.capabilitiesId, grounds.pairing];
}
