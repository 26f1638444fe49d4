import type { CallState } from '@codelanes/protocol';

/** What is told of a call: how it ended, as it is stored, or a state. */
export type Heard = { readonly end: string } | { readonly state: CallState };

interface Call {
  /** What nobody has asked for yet. */
  unread: Heard | undefined;
  hasNews: boolean;
}

/**
 * What this process was told of the calls that it sees through, each news until it is asked for once: whoever is woken
 * by a change need not ask Redis what it was.
 */
export class HeardCalls {
  readonly #calls = new Map<string, Set<Call>>();

  /** From before the call is entered, so that no news of it is missed. */
  follow(callId: string): { readonly take: () => Heard | undefined; readonly stop: () => void } {
    const call: Call = { unread: undefined, hasNews: false };
    const followers = this.#calls.get(callId) ?? new Set();
    this.#calls.set(callId, followers.add(call));
    return {
      take: () => {
        const { unread } = call;
        call.unread = undefined;
        return unread;
      },
      stop: () => {
        followers.delete(call);
        if (followers.size === 0) this.#calls.delete(callId);
      },
    };
  }

  hear(callId: string, heard: Heard): void {
    for (const call of this.#calls.get(callId) ?? []) {
      call.hasNews = true;
      // How it ended says more than that it did, and comes before.
      if (call.unread === undefined || !('end' in call.unread)) call.unread = heard;
    }
  }

  /** What the reply to a submission says, which may come after news of what happened since. */
  entered(callId: string, state: CallState): void {
    for (const call of this.#calls.get(callId) ?? []) {
      if (!call.hasNews) call.unread = { state };
    }
  }

  /** It is not known any more whether that is how things are. */
  forget(): void {
    for (const followers of this.#calls.values()) {
      for (const call of followers) call.unread = undefined;
    }
  }
}
