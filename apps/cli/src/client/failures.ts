import type { ErrorCode, WaitingReason } from '@codelanes/protocol';
import { CodelanesError } from '@codelanes/protocol';

interface RefusalDetails {
  readonly waitedFor?: WaitingReason | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** The bridge answered, with an error. */
export class Refusal extends CodelanesError {
  /** What a call that timed out in the queue had waited for. */
  readonly waitedFor: WaitingReason | undefined;
  /** How long to wait before the same may be sent again, where the bridge said so. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, { waitedFor, retryAfterMs }: RefusalDetails = {}) {
    super(code, message);
    this.waitedFor = waitedFor;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No answer came. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  /** False where the request provably never reached a bridge. */
  readonly mayHaveArrived: boolean;

  constructor(what: string, mayHaveArrived: boolean, options?: ErrorOptions) {
    super(what, options);
    this.mayHaveArrived = mayHaveArrived;
  }
}
