import { durationText } from '../lanes/duration-text.js';
import type { TimelineRow } from './timeline.js';
import { drawTimeline } from './timeline.js';

const redrawEveryMs = 100;
const plainWidth = 100;
const widest = 120;

export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): boolean;
}

/** Shows a timeline while it grows: redrawn in a terminal, line by line where there is none or NO_COLOR asks for it. */
export class Screen {
  readonly #output: Output;
  readonly #live: boolean;
  #drawn = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(output: Output, environment: NodeJS.ProcessEnv = process.env) {
    this.#output = output;
    this.#live = output.isTTY === true && (environment['NO_COLOR'] ?? '') === '';
  }

  say(line: string): void {
    this.#output.write(`${line}\n`);
  }

  /** Begins to redraw; `rows` and `nowMs` are read at each time. */
  open(rows: readonly TimelineRow[], nowMs: () => number): void {
    if (!this.#live) return;
    this.#timer = setInterval(() => {
      this.#draw(rows, nowMs());
    }, redrawEveryMs);
  }

  /** Tells of one change, where nothing is redrawn. */
  change(atMs: number, label: string, what: string): void {
    if (!this.#live) this.say(`  ${durationText(atMs).padStart(6)}  ${label} ${what}`);
  }

  /** Leaves the finished timeline standing. */
  close(rows: readonly TimelineRow[], nowMs: number): void {
    clearInterval(this.#timer);
    this.#draw(rows, nowMs);
    this.#drawn = 0;
  }

  #draw(rows: readonly TimelineRow[], nowMs: number): void {
    const lines = drawTimeline(rows, nowMs, { width: this.#width(), colour: this.#live });
    const back = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A`;
    const clear = this.#live ? '\u001b[2K' : '';
    this.#output.write(`${back}${lines.map((line) => `${clear}${line}\n`).join('')}`);
    this.#drawn = this.#live ? lines.length : 0;
  }

  /** One column is left free, since a full line makes some terminals begin another. */
  #width(): number {
    const { columns = 0 } = this.#output;
    return this.#live && columns > 0 ? Math.min(columns - 1, widest) : plainWidth;
  }
}
