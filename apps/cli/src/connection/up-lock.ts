import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { CliError } from '../errors/cli-error.js';
import { isErrno } from './private-file.js';

/**
 * The right of one `codelanes up` to a state folder: a second one would write its own bridge over the first one's in
 * the connection file, and the first could no longer be found. It is a listening socket without a file, named by
 * the folder's device and inode, which the kernel frees when the process ends, however it ends.
 */
export class UpLock {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /**
   * Nothing waits: a folder that another `up` uses is refused.
   *
   * @throws CliError
   */
  static async take(stateFolder: string): Promise<UpLock> {
    const { dev, ino } = await stat(stateFolder, { bigint: true });
    const server = createServer((connection) => connection.destroy());
    server.unref();
    try {
      // The zero byte makes it an abstract name: it stands in no folder.
      server.listen(`\0codelanes/up/${dev}-${ino}`);
      await once(server, 'listening');
    } catch (error) {
      if (!isErrno(error, 'EADDRINUSE')) throw error;
      throw new CliError(
        `Another "codelanes up" runs with the state folder ${stateFolder}.`,
        'Stop it and serve both folders by one, with --root for each; or give this one --port 0 and another --state.',
        { cause: error },
      );
    }
    return new UpLock(server);
  }

  /** Another `up` may take the folder from now on. */
  close(): void {
    this.#server.close();
  }
}
