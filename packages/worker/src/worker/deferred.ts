/** A promise of an event and what brings it about; Node 20 has no `Promise.withResolvers`. */
export interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/** A rejection that nobody waits for is no fault of the process. */
export function deferred(): Deferred {
  let settle: Omit<Deferred, 'promise'> | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => undefined);
  if (settle === undefined) throw new Error('A promise runs its executor at once.');
  return { promise, ...settle };
}
