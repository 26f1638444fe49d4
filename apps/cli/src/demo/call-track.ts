import type { CallState } from '@codelanes/protocol';
import type { Span, TimelineRow } from './timeline.js';

const shownAs: Readonly<Record<CallState, Span['state'] | undefined>> = {
  waiting: 'waits',
  reserved: 'waits',
  delivered: 'waits',
  running: 'runs',
  cancelling: 'runs',
  paused: 'waits',
  settled: undefined,
  withdrawn: undefined,
  interrupted: undefined,
};

/** The life of one call as it is told, as spans for the timeline. */
export class CallTrack implements TimelineRow {
  readonly label: string;
  readonly #spans: Span[] = [];

  constructor(label: string) {
    this.label = label;
  }

  get spans(): readonly Span[] {
    return this.#spans;
  }

  /** @returns Whether what is shown has changed. */
  enter(state: CallState, atMs: number): boolean {
    const last = this.#spans.at(-1);
    const open = last !== undefined && last.toMs === undefined ? last : undefined;
    const shown = shownAs[state];
    if (open?.state === shown) return false;
    if (open !== undefined) this.#spans[this.#spans.length - 1] = { ...open, toMs: atMs };
    if (shown !== undefined) this.#spans.push({ state: shown, fromMs: atMs });
    return true;
  }
}
