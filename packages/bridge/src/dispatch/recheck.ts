/** Every change rings for whoever waits for it; this is only the net beneath a ring that a store lost. */
export const recheckMs = 5_000;
