import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { describeMismatch } from './mismatch.js';
import { replayRouting, routingCaseSchema } from './replay-routing.js';
import { replayScheduling } from './replay-scheduling.js';
import { schedulingTraceSchema } from './scheduling-trace.js';
import { storeMaker, type StoreMaker } from './store-by-name.js';

/** What a file of vectors held, all of it as expected. */
export interface Replayed {
  readonly scheduling: number;
  readonly routing: number;
}

/** A line that is no vector, or whose replay gave something else than it expects. */
export class ReplayFailure extends Error {
  override readonly name = 'ReplayFailure';
}

/**
 * Replays a file of vectors line by line; each line may be of either format.
 *
 * @throws ReplayFailure at the first line that differs, naming file and line; RangeError where no store has the name.
 */
export async function replayFile(path: string, storeName: string): Promise<Replayed> {
  const stores = await storeMaker(storeName);
  try {
    return await replayLines(path, stores);
  } finally {
    await stores.close();
  }
}

async function replayLines(path: string, stores: StoreMaker): Promise<Replayed> {
  const counts = { scheduling: 0, routing: 0 };
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    number += 1;
    if (line.trim() === '') continue;
    try {
      counts[await replayLine(line, stores)] += 1;
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      throw new ReplayFailure(`${path}:${number}: ${what}`, { cause: error });
    }
  }
  if (number === 0) throw new ReplayFailure(`${path}: an empty file proves nothing`);
  return counts;
}

async function replayLine(line: string, stores: StoreMaker): Promise<keyof Replayed> {
  const value: unknown = JSON.parse(line);
  if (typeof value === 'object' && value !== null && 'steps' in value) {
    const trace = parse(schedulingTraceSchema, value);
    const store = stores.make();
    try {
      const mismatch = await replayScheduling(trace, store);
      if (mismatch !== undefined) throw new ReplayFailure(describeMismatch(mismatch));
    } finally {
      await store.close();
    }
    return 'scheduling';
  }
  const mismatch = replayRouting(parse(routingCaseSchema, value));
  if (mismatch !== undefined) throw new ReplayFailure(describeMismatch(mismatch));
  return 'routing';
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ReplayFailure(`not a vector: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`);
}
