import { callStateSchema } from '@codelanes/protocol';
import type { Follower, Progress } from '../store.js';
import { readCallEnd } from './call-end.js';
import type { Heard, HeardCalls } from './heard-calls.js';
import type { LostSeconds } from './lost-seconds.js';
import type { Presence } from './presence.js';
import type { Wakes } from './wakes.js';
import type { WorkerScripts } from './worker-scripts.js';

interface Parts {
  readonly scripts: Pick<WorkerScripts, 'run'>;
  readonly wakes: Pick<Wakes, 'onCall'>;
  readonly processes: { lostSecondsOf(workerId: string): Pick<LostSeconds, 'endOf'> };
  readonly presence: Pick<Presence, 'begin'>;
}

/** Follows the calls of this process: what news of a call tell is not asked of Redis again. */
export class Followers {
  readonly #parts: Parts;
  readonly #heard: HeardCalls;

  constructor(parts: Parts, heard: HeardCalls) {
    this.#parts = parts;
    this.#heard = heard;
  }

  follow(callId: string, workerId: string, listener: () => void): Follower {
    const { take, stop } = this.#heard.follow(callId);
    const off = this.#parts.wakes.onCall(callId, workerId, listener);
    return {
      progress: async () => {
        const heard = take();
        return heard === undefined || !tellsAll(heard)
          ? this.#ask(callId, workerId)
          : this.#read(callId, workerId, heard);
      },
      stop: () => {
        off();
        stop();
      },
    };
  }

  async #ask(callId: string, workerId: string): Promise<Progress | undefined> {
    const { values } = await this.#parts.scripts.run('progress', workerId, [callId]);
    if (values.isAtEnd()) return undefined;
    const state = callStateSchema.parse(values.text());
    const end = values.text();
    return this.#read(callId, workerId, end === '' ? { state } : { end });
  }

  #read(callId: string, workerId: string, heard: Heard): Progress {
    if ('state' in heard) {
      // Whoever sees a call through says that it lives while that waits, also where the news that it came back was lost.
      if (heard.state === 'waiting') this.#parts.presence.begin(workerId);
      return { how: 'open', state: heard.state };
    }
    return this.#parts.processes.lostSecondsOf(workerId).endOf(workerId, callId, readCallEnd(heard.end));
  }
}

/** How a call ended comes with the news of it, unless it is long. */
function tellsAll(heard: Heard): boolean {
  return 'end' in heard || !ended.has(heard.state);
}

const ended: ReadonlySet<string> = new Set(['settled', 'withdrawn', 'interrupted']);
