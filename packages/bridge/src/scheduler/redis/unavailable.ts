import { CodelanesError } from '@codelanes/protocol';

/** What a Redis says that is there, but cannot serve now. */
const passing = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|OOM|MISCONF|BUSY)\b/;

/**
 * The error of a Redis that cannot be reached as `STORE_UNAVAILABLE`; faults of a script or of this program stay
 * what they are.
 */
export function storeUnavailable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const isReply = error.name === 'ReplyError';
  if (isReply ? !passing.test(error.message) : error.message.startsWith('script ')) return error;
  return new CodelanesError('STORE_UNAVAILABLE', `The bridge cannot reach its Redis: ${whyNot(error)}.`, {
    cause: error,
  });
}

/** The library's own words of this one speak to whoever programs with it. */
function whyNot({ name, message }: Error): string {
  return name === 'MaxRetriesPerRequestError' ? 'every attempt to connect failed' : message;
}
