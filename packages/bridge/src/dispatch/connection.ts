/** The other end of a request that is still to be answered. */
export interface Connection {
  /** Aborts when the other end went away before it was answered. */
  readonly gone: AbortSignal;
  /** Whether a reply can still be written; looks at the socket itself, so it knows before `gone` does. */
  isOpen(): boolean;
}
