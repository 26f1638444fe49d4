/** Nothing is wrong: somebody stopped the worker before it had registered. */
export class WorkerStopped extends Error {
  override readonly name = 'WorkerStopped';

  constructor(options?: ErrorOptions) {
    super('The worker was stopped before it had registered.', options);
  }
}
