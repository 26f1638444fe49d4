import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync,
  type FSWatcher,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { z } from 'zod';

/*
 * An operator's word to a worker, left as a file in a folder of its state: a worker that runs takes it at once, one
 * that is stopped at its next start.
 */

/** Leaves a request under a name; one of the same name that was not yet taken is replaced. */
export function leaveRequest(folder: string, name: string, request: unknown): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Written beside and renamed, so that the worker never reads half of it.
  const written = join(folder, '..', `request-${name}.new`);
  writeFileSync(written, JSON.stringify(request), { mode: 0o600 });
  renameSync(written, join(folder, `${name}.json`));
}

/** How often a folder is looked at that cannot be watched, in milliseconds. */
const lookEveryMs = 1_000;

export interface RequestTaker<Request> {
  readonly schema: z.ZodType<Request>;
  readonly take: (request: Request) => void;
  /** Told of a request that cannot be read; it is left where it lies. */
  readonly onError: (error: unknown) => void;
}

/**
 * Hands over every request, those that lie there already included, until the returned function is called. A folder that
 * is removed meanwhile is made anew: what is left there later is taken, too.
 */
export function watchRequests<Request>(folder: string, taker: RequestTaker<Request>): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return new RequestWatch(folder, taker).begin();
}

class RequestWatch<Request> {
  readonly #folder: string;
  readonly #taker: RequestTaker<Request>;
  #watcher: FSWatcher | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(folder: string, taker: RequestTaker<Request>) {
    this.#folder = folder;
    this.#taker = taker;
  }

  /** @returns what ends it. */
  begin(): () => void {
    this.#watch();
    return () => {
      this.#watcher?.close();
      clearInterval(this.#looking);
    };
  }

  #watch(): void {
    try {
      const watcher = watch(this.#folder, (_, name) => {
        // Of its own end a folder tells with its own name, which no request has.
        if (name === basename(this.#folder)) this.#watchAnew();
        else this.#look();
      });
      watcher.on('error', this.#taker.onError);
      this.#watcher = watcher;
    } catch {
      // The system has no more watches to give, which other programs of this user may have taken.
      const look = () => {
        this.#look();
      };
      this.#looking ??= setInterval(look, lookEveryMs).unref();
    }
    this.#look();
  }

  #watchAnew(): void {
    this.#watcher?.close();
    // With the state folder that it lies in, the worker has lost more than this.
    if (!existsSync(dirname(this.#folder))) return;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#watch();
    } catch (error) {
      this.#taker.onError(error);
    }
  }

  #look(): void {
    for (const name of namesIn(this.#folder)) takeOne(join(this.#folder, name), this.#taker);
  }
}

/** A folder that somebody removed holds no request. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function takeOne<Request>(file: string, { schema, take, onError }: RequestTaker<Request>): void {
  // The watcher speaks twice of most files.
  if (!existsSync(file)) return;
  try {
    const request = schema.parse(JSON.parse(readFileSync(file, 'utf8')));
    rmSync(file, { force: true });
    take(request);
  } catch (error) {
    onError(error);
  }
}
