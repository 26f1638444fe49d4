/** Why an environment is not ready to be served; the message says which, what happened, and what to do. */
export class PreparationError extends Error {
  override readonly name = 'PreparationError';
  /** The last of what its commands said, for the operator alone; undefined where nothing was run. */
  readonly output: string | undefined;

  constructor(message: string, options: ErrorOptions & { readonly output?: string | undefined } = {}) {
    super(message, options);
    this.output = options.output;
  }
}
