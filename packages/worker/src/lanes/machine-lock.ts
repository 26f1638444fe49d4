import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { RootError } from '../environment/roots.js';
import type { FileIdentity } from '../files/directory.js';
import { liesIn } from '../files/lies-in.js';
import { rootKey } from './root-lock.js';

const prefix = 'codelanes/root/';

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
   * Nothing waits: a root that another worker holds, or that overlaps one, is refused. The name is taken before
   * the others are asked, so of two workers that start at once at least one sees the other.
   *
   * @param path canonical path of the root.
   * @throws {RootError}
   */
  static async take(root: FileIdentity, path: string): Promise<MachineLock> {
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
    const overlapping = await otherRoot(name, path);
    if (overlapping === undefined) return lock;
    lock.close();
    throw new RootError(
      `Another worker serves "${overlapping}", which overlaps "${path}": one folder has one lane, so stop it first or serve another folder.`,
    );
  }

  /** Another worker may take the root from now on. */
  close(): void {
    this.#server.close();
  }
}

/** A root that some worker of this machine holds and that overlaps this one. */
async function otherRoot(own: string, path: string): Promise<string | undefined> {
  const held = await Promise.all(
    heldNames()
      .filter((name) => name !== own)
      .map(askPath),
  );
  return held.find((other) => other !== '' && (liesIn(other, path) || liesIn(path, other)));
}

function heldNames(): string[] {
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
  // The kernel shows a zero byte as "@": the first makes the name abstract, Node fills up with others.
  const names = lines.map((line) => (line.split(' ').at(-1) ?? '').replace(/@+$/, ''));
  return [...new Set(names.filter((name) => name.startsWith(`@${prefix}`)).map((name) => name.slice(1)))];
}

/** Empty where the holder has gone meanwhile. */
async function askPath(name: string): Promise<string> {
  try {
    return await text(connect(`\0${name}`));
  } catch {
    return '';
  }
}
