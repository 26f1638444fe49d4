/** Something that is read from files which others may exchange. */
export interface Renewal<T> {
  /** Rejects where what lies there cannot be used. */
  readonly read: () => Promise<T>;
  readonly isSame: (one: T, other: T) => boolean;
  /** How often it is looked at, in milliseconds. */
  readonly everyMs: number;
  /** What was read at the start. */
  readonly present: T;
  readonly onRenewed: (renewed: T) => void;
  /** Once for each fault that lasts: what was there before goes on to count. */
  readonly onFault: (error: Error) => void;
}

/**
 * Looks at files every while, and hands over what came into them, so that nobody has to start the bridge again. Files
 * are looked at, not watched: they may be links that are exchanged, on any file system. Returns what ends it.
 */
export function keepRenewed<T>(renewal: Renewal<T>): () => void {
  const { read, isSame, everyMs, onRenewed, onFault } = renewal;
  let { present } = renewal;
  let fault = '';
  const look = async () => {
    try {
      const found = await read();
      fault = '';
      if (isSame(found, present)) return;
      present = found;
      onRenewed(found);
    } catch (error) {
      const known = error instanceof Error ? error : new Error(String(error));
      if (known.message !== fault) onFault(known);
      fault = known.message;
    }
  };
  let isLooking = false;
  const timer = setInterval(() => {
    // A look that is overtaken by a later one would bring back what was there before.
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => (isLooking = false));
  }, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
