/** The bridge, or another worker, will not have this one. */
export class WorkerRefused extends Error {
  override readonly name = 'WorkerRefused';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
