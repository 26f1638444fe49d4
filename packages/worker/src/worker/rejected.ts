import { CodelanesError, errorCodeSchema, limits } from '@codelanes/protocol';
import type { Settlement } from '@codelanes/protocol';
import type { ServedRoot } from './served-root.js';

/** What a call is refused with. Sentences for the operator name places of this machine; to a caller the root is called by its id. */
export function rejected(error: unknown, root?: ServedRoot): Settlement {
  if (CodelanesError.is(error)) {
    const code = errorCodeSchema.parse(error.code);
    const shown = root === undefined ? error.message : error.message.replaceAll(root.path, root.id);
    return { status: 'rejected', error: { code, message: shown.slice(0, limits.errorMessageLength) } };
  }
  const message = 'The worker met a fault of its own; its log says more.';
  return { status: 'rejected', error: { code: 'INTERNAL_FAULT', message } };
}
