import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { RootError } from '../environment/roots.js';
import type { FileIdentity } from '../files/directory.js';
import { liesIn } from '../files/lies-in.js';
import { rootKey } from './root-lock.js';

const prefix = 'codelanes/root/';
/** A busy machine may keep a worker that long from answering; a stopped one never does. */
const answerWithinMs = 30_000;
/** How soon one that hung up is asked again, in milliseconds. */
const askAgainMs = 20;

/**
 * The right of one worker of this machine to one root and all that lies in it, whatever state folder it keeps:
 * two workers that do not share one would each see the other's lock nowhere. It is a listening socket without a
 * file (its name is the root's device and inode), which tells whoever asks the root's path, and which the
 * kernel frees when the worker ends, however it ends. No sandbox can reach or take the name, since each has a
 * network of its own.
 */
export class MachineLock {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /**
   * Nothing waits for another worker to end: a root that one holds, or that overlaps one, is refused. The name is taken
   * before the others are asked, so of two workers that start at once at least one sees the other.
   *
   * @param path canonical path of the root.
   * @param withinMs for which another worker may be silent about the root that it holds.
   * @throws {RootError}
   */
  static async take(root: FileIdentity, path: string, withinMs = answerWithinMs): Promise<MachineLock> {
    const name = `${prefix}${rootKey(root)}`;
    const server = createServer((connection) => {
      connection.on('error', () => undefined);
      connection.end(path);
    });
    server.unref();
    try {
      // The zero byte makes it an abstract name: it stands in no folder.
      server.listen(`\0${name}`);
      await once(server, 'listening');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
      throw new RootError(
        `Another worker, which keeps its state elsewhere, serves "${path}": stop it first, or give this one another root.`,
        { cause: error },
      );
    }
    const lock = new MachineLock(server);
    try {
      await refuseOverlaps(name, path, withinMs);
      return lock;
    } catch (error) {
      lock.close();
      throw error;
    }
  }

  /** Another worker may take the root from now on. */
  close(): void {
    this.#server.close();
  }
}

/** @throws {RootError} where some worker of this machine holds a root that overlaps this one, or may do so. */
async function refuseOverlaps(own: string, path: string, withinMs: number): Promise<void> {
  const others = heldNames().filter((name) => name !== own);
  const held = await Promise.all(others.map((name) => askPath(name, withinMs)));
  const overlapping = held.find((other) => other !== '' && (liesIn(other, path) || liesIn(path, other)));
  if (overlapping === undefined) return;
  throw new RootError(
    `Another worker serves "${overlapping}", which overlaps "${path}": one folder has one lane, so stop it first or serve another folder.`,
  );
}

function heldNames(): string[] {
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
  // The kernel shows a zero byte as "@": the first makes the name abstract, Node fills up with others.
  const names = lines.map((line) => (line.split(' ').at(-1) ?? '').replace(/@+$/, ''));
  return [...new Set(names.filter((name) => name.startsWith(`@${prefix}`)).map((name) => name.slice(1)))];
}

/**
 * Empty where the holder has gone meanwhile.
 *
 * @throws {RootError} where it is there and says nothing.
 */
async function askPath(name: string, withinMs: number): Promise<string> {
  const end = performance.now() + withinMs;
  for (;;) {
    const path = await answerOf(name, withinMs);
    // One that may open no more files hangs up at once.
    if (path !== '' || !heldNames().includes(name)) return path;
    if (performance.now() >= end) throw silent();
    await sleep(askAgainMs);
  }
}

/** Empty where it hangs up. */
async function answerOf(name: string, withinMs: number): Promise<string> {
  const connection = connect(`\0${name}`);
  connection.setTimeout(withinMs, () => {
    connection.destroy(silent());
  });
  try {
    return await text(connection);
  } catch (error) {
    if (error instanceof RootError) throw error;
    return '';
  }
}

function silent(): RootError {
  return new RootError(
    'A worker of this machine does not say which folder it serves, which may be this one: it seems to be stopped. Let it go on (kill -CONT) or end it, then start this one again.',
  );
}
