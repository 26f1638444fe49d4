import { CodelanesError } from '@codelanes/protocol';
import { openCheckout } from '../lanes/checkout.js';
import { removePlantedRefs, type SweptRefs } from '../sandbox/planted-refs.js';
import type { ServedTree } from './served-tree.js';

const nothing: SweptRefs = { notices: [] };

/**
 * Removes what a call that had all of a tree may have planted among its refs, before the operator's own Git meets
 * it; says what. Only when nothing of that call runs any more.
 */
export function sweepRefs({ path, layout }: ServedTree): SweptRefs {
  if (layout.kind !== 'checkout') return nothing;
  try {
    const checkout = openCheckout(path, layout.pin);
    try {
      return removePlantedRefs(checkout.git);
    } finally {
      checkout.close();
    }
  } catch (error) {
    // A checkout that does not verify is not to be touched.
    if (CodelanesError.is(error)) return nothing;
    throw error;
  }
}
