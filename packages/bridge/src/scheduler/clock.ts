/** Time as a store sees it; never goes back. */
export interface Clock {
  now(): number;
  /** Calls back once after that many milliseconds, unless cancelled by the returned function. */
  after(ms: number, callback: () => void): () => void;
}
