import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
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

export interface RequestTaker<Request> {
  readonly schema: z.ZodType<Request>;
  readonly take: (request: Request) => void;
  /** Told of a request that cannot be read; it is left where it lies. */
  readonly onError: (error: unknown) => void;
}

/** Hands over every request, those that lie there already included, until the returned function is called. */
export function watchRequests<Request>(folder: string, taker: RequestTaker<Request>): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const look = () => {
    // A folder that somebody removed holds no request.
    if (!existsSync(folder)) return;
    for (const name of readdirSync(folder)) takeOne(join(folder, name), taker);
  };
  const watcher = watch(folder, look);
  look();
  return () => {
    watcher.close();
  };
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
