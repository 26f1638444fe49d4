import { existsSync, mkdirSync } from 'node:fs';
import { laneKey, lanesOverlap } from '@codelanes/protocol';
import { z } from 'zod';
import { Directory } from '../files/directory.js';
import { readFile } from '../files/read.js';
import { FileRefusal } from '../files/refusal.js';
import { writeAtomically } from '../files/write.js';
import { processIdentitySchema, type ProcessIdentity, type ProcessTable } from './processes.js';

const fileName = 'quarantine.json';

const entrySchema = z.strictObject({
  lane: z.array(z.string()).min(1).readonly(),
  /** One sentence. */
  reason: z.string(),
  /** Milliseconds since 1970. */
  since: z.int().nonnegative(),
  /** What could not be shown to be gone; with none, only an operator releases the lane. */
  processes: z.array(processIdentitySchema).readonly(),
});
export type QuarantinedLane = z.infer<typeof entrySchema>;

export interface QuarantineWatch {
  /** Called of each lane whose processes are gone, before anything may use it again. */
  readonly tidy: (lane: readonly string[]) => void;
  /** Told what was given back. */
  readonly onHealed: (lanes: QuarantinedLane[]) => void;
  readonly onError: (error: unknown) => void;
}

const stateSchema = z.strictObject({ version: z.literal(1), lanes: z.array(entrySchema) });

/**
 * Lanes in which something of an interrupted call may still run. Kept over restarts; a lane heals when its
 * processes are gone. Calls that overlap such a lane are refused, its siblings go on.
 */
export class Quarantine {
  readonly #folder: Directory;
  readonly #processes: Pick<ProcessTable, 'isGone'>;
  readonly #lanes: Map<string, QuarantinedLane>;
  #writing: Promise<void> = Promise.resolve();
  #onChange: () => void = () => undefined;

  private constructor(
    folder: Directory,
    processes: Pick<ProcessTable, 'isGone'>,
    lanes: readonly QuarantinedLane[],
  ) {
    this.#folder = folder;
    this.#processes = processes;
    this.#lanes = new Map(lanes.map((entry) => [laneKey(entry.lane), entry]));
  }

  static async open(path: string, processes: Pick<ProcessTable, 'isGone'>): Promise<Quarantine> {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const folder = Directory.open(path);
    try {
      return new Quarantine(folder, processes, await readLanes(folder));
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  /**
   * Blocks a lane at once; resolves when that outlives the worker. A second reason adds its processes; where one of the
   * reasons has none, the lane waits for an operator.
   */
  async add(lane: readonly string[], reason: string, processes: readonly ProcessIdentity[]): Promise<void> {
    const key = laneKey(lane);
    const known = this.#lanes.get(key);
    this.#lanes.set(key, joined(known, { lane, reason, since: Date.now(), processes }));
    await this.#save();
  }

  /** The quarantined lane that overlaps this one, if any. */
  blocks(lane: readonly string[]): QuarantinedLane | undefined {
    return this.list().find((entry) => lanesOverlap(entry.lane, lane));
  }

  /** Calls back whenever a lane is closed or given back; one listener at most. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  list(): QuarantinedLane[] {
    return [...this.#lanes.values()];
  }

  /** Gives a lane back by an operator's word; `false` where it was not quarantined. */
  async release(key: string): Promise<boolean> {
    const released = this.#lanes.delete(key);
    if (released) await this.#save();
    return released;
  }

  /**
   * Looks at the processes again and gives back the lanes of which all are gone; returns those. `tidy` is called
   * of each before anything may use it.
   */
  async recheck(tidy: (lane: readonly string[]) => void = () => undefined): Promise<QuarantinedLane[]> {
    const healed = this.list().filter(
      ({ processes }) => processes.length > 0 && processes.every((one) => this.#processes.isGone(one)),
    );
    for (const { lane } of healed) {
      tidy(lane);
      this.#lanes.delete(laneKey(lane));
    }
    if (healed.length > 0) await this.#save();
    return healed;
  }

  /**
   * Rechecks every so many milliseconds while anything is quarantined. The timer keeps no process alive. Returns
   * what stops it.
   */
  watch(intervalMs: number, { tidy, onHealed, onError }: QuarantineWatch): () => void {
    let looking = false;
    const look = async (): Promise<void> => {
      if (looking || this.#lanes.size === 0) return;
      looking = true;
      try {
        const healed = await this.recheck(tidy);
        if (healed.length > 0) onHealed(healed);
      } catch (error) {
        onError(error);
      } finally {
        looking = false;
      }
    };
    const timer = setInterval(() => void look(), intervalMs);
    timer.unref();
    return () => {
      clearInterval(timer);
    };
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => undefined);
    this.#folder.close();
  }

  #save(): Promise<void> {
    this.#onChange();
    // One after the other, each with the state of its turn: the last one written is the newest.
    const write = async (): Promise<void> => {
      const text = `${JSON.stringify({ version: 1, lanes: this.list() })}\n`;
      await writeAtomically(this.#folder, fileName, Buffer.from(text), { create: 'either', mode: 0o600 });
    };
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }
}

function joined(known: QuarantinedLane | undefined, added: QuarantinedLane): QuarantinedLane {
  if (known === undefined) return added;
  const healsByItself = [known, added].every(({ processes }) => processes.length > 0);
  return {
    lane: known.lane,
    since: known.since,
    reason: known.reason.includes(added.reason) ? known.reason : `${known.reason} ${added.reason}`,
    processes: healsByItself ? [...known.processes, ...added.processes] : [],
  };
}

/** The lanes that are quarantined in a folder, which another process may have open. */
export async function readQuarantined(path: string): Promise<QuarantinedLane[]> {
  if (!existsSync(path)) return [];
  const folder = Directory.open(path);
  try {
    return await readLanes(folder);
  } finally {
    folder.close();
  }
}

async function readLanes(folder: Directory): Promise<QuarantinedLane[]> {
  try {
    const { bytes } = await readFile(folder, fileName, { maxBytes: 16 * 1024 * 1024 });
    return stateSchema.parse(JSON.parse(bytes.toString('utf8'))).lanes;
  } catch (error) {
    if (error instanceof FileRefusal && error.fault === 'not_found') return [];
    throw new Error(
      `"${folder.path()}/${fileName}" cannot be read: make sure that nothing of an earlier worker runs, then move it away.`,
      { cause: error },
    );
  }
}
