/** Exit statuses of the command line itself; `exec` otherwise exits with the status of its command. */
export const exitStatus = {
  ok: 0,
  /** Something other than `exec` failed. */
  failed: 1,
  /** A flag or argument is wrong. */
  usage: 2,
  /** `exec`: it started, or may have, and nobody can say how it ended. */
  outcomeUnknown: 123,
  /** `exec`: the command ran out of time and was stopped. */
  timedOut: 124,
  /** `exec`: nothing ran, for the reason that was printed. */
  nothingRan: 125,
  /** `exec`: stopped on request, by Ctrl-C here or by an administrator. */
  cancelled: 130,
} as const;

/** A failure of which another process has said everything on the same terminal. */
export class AlreadyTold extends Error {
  override readonly name = 'AlreadyTold';
}

/** A failure that a person is told: one sentence what, one sentence what to do. */
export class CliError extends Error {
  override readonly name = 'CliError';
  /** What the reader does next. */
  readonly next: string;

  constructor(what: string, next: string, options?: ErrorOptions) {
    super(what, options);
    this.next = next;
  }
}
