import type { CallView } from '@codelanes/protocol';
import { describeLane } from '@codelanes/protocol';
import type { NoAnswer, Refusal } from '../client/failures.js';
import { waitingKey, waitingText } from './waiting-text.js';

/** Says on stderr why a call waits: once per change, never because only time passed. */
export class Progress {
  readonly #say: (line: string) => void;
  #saidKey: string | undefined;
  #lastView: CallView | undefined;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** What was last seen of the present attempt. */
  get lastView(): CallView | undefined {
    return this.#lastView;
  }

  attempt(): void {
    this.#lastView = undefined;
    // Each attempt is a call of its own, so its id is to be said again.
    this.#saidKey = undefined;
  }

  view(view: CallView): void {
    this.#lastView = view;
    if (view.state === 'waiting' && view.waiting !== undefined) {
      const key = waitingKey(view.waiting);
      if (key === this.#saidKey) return;
      this.#saidKey = key;
      this.#say(`call ${view.callId} for ${describeLane(view.lane)} waits ${waitingText(view.waiting)}`);
    } else if (view.state === 'running' && this.#saidKey !== undefined) {
      this.#saidKey = undefined;
      this.#say(`call ${view.callId} runs`);
    }
  }

  retry(refusal: Refusal): void {
    if (refusal.code === 'RATE_LIMITED') {
      this.#say(`${refusal.message} Nothing ran; asking again soon`);
      return;
    }
    const why = refusal.waitedFor === undefined ? '' : `; it waited ${waitingText(refusal.waitedFor)}`;
    this.#say(`the queue gave up on the call${why}. Nothing ran; asking again in its place`);
  }

  unavailable(failure: NoAnswer | Refusal): void {
    this.#say(`${failure.message} Nothing ran; trying a little longer`);
  }
}
