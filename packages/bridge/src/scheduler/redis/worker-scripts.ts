import { z } from 'zod';
import type { Loss } from '../store.js';
import type { Clock } from '../clock.js';
import type { SchedulerSettings } from '../scheduler-settings.js';
import { Batches } from './batches.js';
import { otherLayout, type Layout } from './layout.js';
import type { RedisKeys } from './keys.js';
import { ReplyReader } from './reply-reader.js';
import type { ScriptName, ScriptRunner } from './script-runner.js';
import { operationOfStored } from './stored-text.js';

/** What a script answered: its code, and a reader of what follows. */
export interface ScriptReply {
  readonly code: string;
  readonly values: ReplyReader;
}

/** Times that are no settings of the contract. */
export interface RedisTimes {
  /** A bridge that is silent for this long has died; what it has in the queue leaves it. */
  readonly bridgeSilentMs: number;
  /** Keys of a worker that nobody uses are deleted after this. */
  readonly keysKeptMs: number;
}

export const defaultRedisTimes: RedisTimes = { bridgeSilentMs: 4_000, keysKeptMs: 3_600_000 };

interface Parts {
  readonly runner: ScriptRunner;
  readonly keys: RedisKeys;
  readonly layout: Layout;
  readonly settings: SchedulerSettings;
  readonly times: RedisTimes;
  /** In place of the clock of Redis. */
  readonly simulatedTime: Clock | undefined;
  /** Told after each script when something is due next for its worker. */
  readonly onDue: (workerId: string, ms: number) => void;
  /** Told after a script of each call that it ended so. */
  readonly onLoss: (loss: Loss) => void;
}

/** Runs scripts on the keys of one worker, with what every script is given. */
export class WorkerScripts {
  readonly #parts: Parts;
  readonly #settings: readonly string[];
  readonly #batches: Batches;

  constructor(parts: Parts) {
    const { settings, times } = parts;
    this.#parts = parts;
    this.#batches = new Batches(parts.runner);
    this.#settings = [
      settings.leaseTtlMs,
      settings.fetchWithinMs,
      settings.placeKeptMs,
      settings.endRememberedMs,
      times.bridgeSilentMs,
      times.keysKeptMs,
    ].map(String);
  }

  /**
   * `moreKeys` bear the hash tag of the worker too; without any, the seventh key is the record of its pairing.
   *
   * @throws CodelanesError `STORE_UNAVAILABLE`, also where the keys of the worker have another layout.
   */
  async run(
    name: ScriptName,
    workerId: string,
    args: readonly string[] = [],
    moreKeys: readonly string[] = [this.#parts.keys.pairingOf(workerId)],
  ): Promise<ScriptReply> {
    const { keys, layout, simulatedTime, onDue, onLoss } = this.#parts;
    const now = simulatedTime === undefined ? '' : String(simulatedTime.now());
    await layout.check();
    const given = [now, keys.channelOf(workerId), ...this.#settings];
    const allKeys = [...keys.ofWorker(workerId), ...moreKeys];
    const values = new ReplyReader(await this.#batches.run(name, allKeys, given, args));
    const code = values.text();
    const [due = '', ...losses] = values.isAtEnd() ? [] : values.text().split(' ');
    if (code === 'LAYOUT') throw otherLayout(values.text());
    if (due !== '') onDue(workerId, Number(due));
    for (const loss of losses) onLoss(readLoss(loss));
    return { code, values };
  }
}

const howSchema = z.enum(['queue_timeout', 'interrupted'] as const satisfies readonly Loss['how'][]);

function readLoss(text: string): Loss {
  const [how, operation = ''] = text.split(':');
  return { how: howSchema.parse(how), operation: operationOfStored(operation) };
}
