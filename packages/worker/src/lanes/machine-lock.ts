import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { CodelanesError } from '@codelanes/protocol';
import type { FileIdentity } from '../files/directory.js';
import { rootKey } from './root-lock.js';

/**
 * The right of one worker of this machine to one root, whatever state folder it keeps: two workers that do not
 * share one would each see the other's lock nowhere. It is a listening socket without a file (its name is the
 * root's device and inode), which the kernel frees when the worker ends, however it ends. No sandbox can reach
 * or take the name, since each has a network of its own.
 */
export class MachineLock {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /**
   * Nothing waits: a root that another worker holds is refused.
   *
   * @throws {CodelanesError} `REGISTRATION_INVALID`.
   */
  static async take(root: FileIdentity, shownPath: string): Promise<MachineLock> {
    const server = createServer((connection) => connection.destroy());
    server.unref();
    try {
      // The zero byte makes it an abstract name: it stands in no folder.
      server.listen(`\0codelanes/root/${rootKey(root)}`);
      await once(server, 'listening');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
      throw new CodelanesError(
        'REGISTRATION_INVALID',
        `Another worker, which keeps its state elsewhere, serves "${shownPath}": stop it first, or give this one another root.`,
        { cause: error },
      );
    }
    return new MachineLock(server);
  }

  /** Another worker may take the root from now on. */
  close(): void {
    this.#server.close();
  }
}
