import type { Lane } from '@codelanes/protocol';
import { Countdown } from '../countdown.js';
import { Expectations } from '../expectations.js';
import { Listeners } from '../listeners.js';
import type { Clock } from '../clock.js';
import type { RedisClient } from './connections.js';
import type { RedisKeys } from './keys.js';
import { laneOfPath } from './stored-text.js';
import { storeUnavailable } from './unavailable.js';

/** A channel that nobody listens to is kept this long, as the next call usually comes soon. */
const idleMs = 60_000;

interface Channel {
  readonly workerId: string;
  /** Where news of the worker and all its calls are told, and where ends of calls of this process. */
  readonly names: readonly [news: string, ends: string];
  readonly subscribed: Promise<unknown>;
  isActive: boolean;
  followers: number;
}

/** What one message tells: when something is due next, what can be fetched, and which calls changed. */
export interface News {
  readonly workerId: string;
  readonly dueMs: number | undefined;
  readonly changes: readonly { readonly callId: string; readonly state: string }[];
}

/** What is told by a message. */
export interface Hearing {
  readonly onNews: (news: News) => void;
  /** How a call of this process ended, as it is stored; the news of it follow. */
  readonly onEnd: (callId: string, end: string) => void;
  /** Something that cannot be read, as a bridge of another version may tell it: whoever listens is woken to look. */
  readonly onUnreadable: () => void;
}

/**
 * Hears of changes by the channel of each worker; one subscription of this process serves all that listen. After
 * a lost connection it subscribes anew and wakes everybody, as nobody knows what was missed.
 */
export class Wakes {
  readonly #client: RedisClient;
  readonly #keys: RedisKeys;
  readonly #bridgeId: string;
  readonly #hearing: Hearing;
  readonly #calls = new Listeners();
  readonly #workers = new Listeners();
  readonly #expectations = new Expectations();
  /** By the name of the channel. */
  readonly #channels = new Map<string, Channel>();
  readonly #idle: Countdown<string>;

  constructor(client: RedisClient, keys: RedisKeys, clock: Clock, bridgeId: string, hearing: Hearing) {
    this.#client = client;
    this.#keys = keys;
    this.#bridgeId = bridgeId;
    this.#hearing = hearing;
    this.#idle = new Countdown(clock, idleMs, (workerId) => {
      this.#leaveIdle(workerId);
    });
    client.on('message', (channel: string, message: string) => {
      try {
        this.#hear(channel, message);
      } catch {
        // It would end the process: nobody stands above this.
        hearing.onUnreadable();
        this.#wakeAll();
      }
    });
    client.on('ready', this.#connected);
  }

  /**
   * Resolves when changes of that worker are heard from here on.
   *
   * @throws CodelanesError `STORE_UNAVAILABLE`
   */
  async hearOf(workerId: string): Promise<void> {
    try {
      await this.#channel(workerId).subscribed;
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  onWorker(workerId: string, listener: () => void): () => void {
    const off = this.#workers.on(workerId, listener);
    const unfollow = this.#follow(workerId, () => {
      this.#workers.mark(workerId);
    });
    return () => {
      off();
      unfollow();
    };
  }

  /** As the contract of the store says; only what is told while somebody listens is heard. */
  onExpected(workerId: string, listener: (lane: Lane) => void): () => void {
    return this.#expectations.on(workerId, listener);
  }

  /** `workerId` may become known later, or never. */
  onCall(callId: string, workerId: Promise<string | undefined> | string, listener: () => void): () => void {
    const off = this.#calls.on(callId, listener);
    const wake = (): void => {
      this.#calls.mark(callId);
    };
    if (typeof workerId === 'string') {
      const unfollow = this.#follow(workerId, wake);
      return () => {
        off();
        unfollow();
      };
    }
    let isOver = false;
    let unfollow = (): void => undefined;
    void workerId.then((found) => {
      if (found === undefined || isOver) return;
      unfollow = this.#follow(found, wake);
      wake();
    }, wake);
    return () => {
      isOver = true;
      off();
      unfollow();
    };
  }

  close(): void {
    this.#client.off('ready', this.#connected);
    this.#idle.close();
    this.#calls.close();
    this.#workers.close();
    this.#expectations.close();
    this.#channels.clear();
  }

  /** What happened before the subscription stood is made good by one wake. */
  #follow(workerId: string, wake: () => void): () => void {
    const channel = this.#channel(workerId);
    channel.followers += 1;
    if (!channel.isActive) void channel.subscribed.then(wake, wake);
    return () => {
      channel.followers -= 1;
      this.#idle.begin(workerId);
    };
  }

  #channel(workerId: string): Channel {
    this.#idle.begin(workerId);
    const name = this.#keys.channelOf(workerId);
    const present = this.#channels.get(name);
    if (present !== undefined) return present;
    const names = [name, this.#keys.endsChannelOf(workerId, this.#bridgeId)] as const;
    const subscribed = this.#client.subscribe(...names);
    const channel: Channel = { workerId, names, subscribed, isActive: false, followers: 0 };
    for (const each of names) this.#channels.set(each, channel);
    subscribed.then(
      () => {
        channel.isActive = true;
      },
      () => {
        this.#forget(channel);
      },
    );
    return channel;
  }

  #leaveIdle(workerId: string): void {
    const name = this.#keys.channelOf(workerId);
    const channel = this.#channels.get(name);
    if (channel === undefined) return;
    if (channel.followers > 0) {
      this.#idle.begin(workerId);
      return;
    }
    this.#forget(channel);
    void this.#client.unsubscribe(...channel.names).catch(() => undefined);
  }

  #forget({ names }: Channel): void {
    for (const name of names) this.#channels.delete(name);
  }

  #hear(name: string, message: string): void {
    const channel = this.#channels.get(name);
    if (channel === undefined) return;
    const { workerId, names } = channel;
    if (name === names[1]) {
      const at = message.indexOf(' ');
      this.#hearing.onEnd(message.slice(0, at), message.slice(at + 1));
      return;
    }
    const [due, fetchable, ...changed] = message.split(' ');
    if (fetchable === '*') this.#workers.mark(workerId);
    const expected = changed.at(-1)?.startsWith('>') === true ? changed.pop() : undefined;
    if (expected !== undefined) this.#expectations.tell(workerId, laneOfPath(expected.slice(1)));
    const changes = changed.map((change) => {
      const [callId = '', state = ''] = change.split(':');
      this.#calls.mark(callId);
      return { callId, state };
    });
    this.#hearing.onNews({
      workerId,
      dueMs: due === '' || due === undefined ? undefined : Number(due),
      changes,
    });
  }

  /** Once more at every connection; a subscription that is cut off again is made at the next one. */
  readonly #connected = (): void => {
    const names = [...this.#channels].filter(([, { isActive }]) => isActive).map(([name]) => name);
    const subscribed = names.length === 0 ? Promise.resolve() : this.#client.subscribe(...names);
    void subscribed.then(this.#wakeAll, this.#wakeAll);
  };

  readonly #wakeAll = (): void => {
    this.#calls.markAll();
    this.#workers.markAll();
  };
}
