/** The time that a script may run. It stands still while the script does. */
export class RunningTime {
  #leftMs: number;
  #since: number | undefined;

  constructor(totalMs: number) {
    this.#leftMs = totalMs;
  }

  get leftMs(): number {
    const passed = this.#since === undefined ? 0 : performance.now() - this.#since;
    return Math.max(0, this.#leftMs - passed);
  }

  start(): void {
    this.#since ??= performance.now();
  }

  stop(): void {
    this.#leftMs = this.leftMs;
    this.#since = undefined;
  }
}
