import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A registry of npm packages on loopback, with one version of one package. */
export class PackageRegistry {
  readonly port: number;
  /** What was asked of it: hosts and paths. */
  readonly asked: string[];
  readonly #server: Server;

  private constructor(server: Server, port: number, asked: string[]) {
    this.#server = server;
    this.port = port;
    this.asked = asked;
  }

  static async start(name: string, program: string): Promise<PackageRegistry> {
    const tarball = pack(name, program);
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const { host = '' } = request.headers;
      // A proxy passes the path on, or all of the address.
      const { pathname } = new URL(request.url ?? '/', `http://${host}`);
      asked.push(`${host} ${pathname}`);
      const file = `/${name}/-/${name}-1.0.0.tgz`;
      if (pathname === file) response.end(tarball);
      else if (pathname === `/${name}`) {
        const dist = { tarball: `http://${host}${file}`, integrity };
        const version = { name, version: '1.0.0', dist };
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }),
        );
      } else response.writeHead(404).end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('Nothing listens.');
    return new PackageRegistry(server, address.port, asked);
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function pack(name: string, program: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'codelanes-package-'));
  try {
    mkdirSync(join(folder, 'package'));
    writeFileSync(join(folder, 'package/package.json'), JSON.stringify({ name, version: '1.0.0' }));
    writeFileSync(join(folder, 'package/index.js'), program);
    execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: folder });
    return readFileSync(join(folder, 'package.tgz'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
