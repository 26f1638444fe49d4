/** The workers that have registered with this bridge, whether they are online or not. */
export class WorkerRoster {
  readonly #ids = new Set<string>();

  add(workerId: string): void {
    this.#ids.add(workerId);
  }

  /** In the order in which they first registered. */
  ids(): readonly string[] {
    return [...this.#ids];
  }
}
