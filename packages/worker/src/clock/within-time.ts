/**
 * Does work whose signal is aborted when the time is over, with a `TimeoutError` as the reason, or when the outer
 * signal is, with its reason. Costs a fraction of what the platform's own joined signals do, which are kept in
 * registries of weak references.
 */
export async function withinTime<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const pass = () => {
    over.abort(outer?.reason);
  };
  if (outer?.aborted === true) pass();
  outer?.addEventListener('abort', pass);
  const timer = setTimeout(() => {
    over.abort(new DOMException(`It took more than ${ms} ms.`, 'TimeoutError'));
  }, ms);
  try {
    return await work(over.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', pass);
  }
}
