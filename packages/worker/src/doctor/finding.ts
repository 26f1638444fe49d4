/** One thing that was looked at. */
export interface Finding {
  readonly subject: string;
  /** `limited`: it works, but not all of it. `failed`: something that was asked for will not work. */
  readonly verdict: 'ok' | 'limited' | 'failed';
  /** What was found and, where it is not `ok`, what to do. */
  readonly sentence: string;
}
