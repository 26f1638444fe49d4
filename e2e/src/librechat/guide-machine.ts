import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Cli } from '../rig/cli.js';
import { makeCertificate } from '../rig/certificate.js';
import { EnvironmentFolder } from '../rig/environment.js';
import { fencedBlocks, type FencedBlock } from '../rig/fenced-blocks.js';

const program = fileURLToPath(new URL('../../../apps/cli/dist/main.js', import.meta.url));
const page = readFileSync(new URL('../../../docs/librechat.md', import.meta.url), 'utf8');

/** The blocks of docs/librechat.md. */
export const guide = fencedBlocks(page);

/** A block of that use, and of that name; the last one where a name stands twice and `last` is asked for. */
export function blockOf(use: string, name: string, which: 'first' | 'last' = 'first'): string {
  const found = guide.filter((block: FencedBlock) => block.use === use && block.name === name);
  const text = found.at(which === 'first' ? 0 : -1)?.text;
  if (text === undefined) throw new Error(`the guide has no block ${use}=${name}`);
  return text;
}

/** The words of the command that a unit starts. */
export function startedBy(unit: string): readonly string[] {
  const line = /^ExecStart=(.*)$/m.exec(unit)?.[1];
  if (line === undefined) throw new Error(`no ExecStart in ${unit}`);
  return line.split(' ');
}

/**
 * The machines of the guide as folders of one: its commands run as they stand there, with other folders, and programs in
 * the place of those that would change the machine.
 */
export class GuideMachine {
  readonly environment = new EnvironmentFolder();
  readonly #programs = join(this.environment.folder, 'bin');
  readonly #running: Cli[] = [];
  readonly certificate = join(this.environment.folder, 'etc', 'fullchain.pem');
  /** Where the bridge listens, once it does. */
  url = '';
  /** The pairing code, once there is one. */
  code = '';

  constructor() {
    for (const folder of [this.#programs, this.#place('/etc/codelanes'), this.#place('/var/lib/codelanes')]) {
      mkdirSync(folder, { mode: 0o700 });
    }
    this.#shim('codelanes', `exec '${process.execPath}' '${program}' "$@"`);
    this.#shim('sudo', 'if [ "$1" = -u ]; then shift 2; fi; exec "$@"');
    this.#shim('systemctl', 'echo "$@"');
    for (const repository of ['web', 'services/api'])
      this.environment.addRepository(repository, 'fix-a', 'fix-b');
    const definition = this.here(blockOf('file', 'app.yaml'));
    writeFileSync(this.#place('/etc/codelanes/app.yaml'), definition, { mode: 0o600 });
  }

  /** The guide's text with the places of this machine. */
  here(text: string): string {
    return text
      .replaceAll('/usr/local/bin/codelanes', join(this.#programs, 'codelanes'))
      .replaceAll('/var/lib/codelanes', this.#place('/var/lib/codelanes'))
      .replaceAll('/etc/codelanes', this.#place('/etc/codelanes'))
      .replaceAll('/srv/src', this.environment.root)
      .replaceAll('0.0.0.0', '127.0.0.1')
      .replaceAll(/https?:\/\/(?:bridge\.example\.org|127\.0\.0\.1):4180/g, this.url)
      .replaceAll(/\bCODE\b/g, this.code);
  }

  /** Runs a block of commands as one script that ends at its first failure; what it printed. */
  async run(name: string): Promise<string> {
    const script = this.here(blockOf('run', name));
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
      cwd: this.environment.folder,
      env: { ...this.#surroundings(), PATH: `${this.#programs}:${process.env['PATH'] ?? ''}` },
    });
    return stdout;
  }

  /** Makes the keys of LibreChat and puts the public one where the bridge looks for it; the private one. */
  async makeKeys(): Promise<string> {
    await this.run('keys');
    const made = (name: string) => join(this.environment.folder, name);
    copyFileSync(made('librechat-jwt.pub.pem'), this.#place('/etc/codelanes/librechat-jwt.pub.pem'));
    return readFileSync(made('librechat-jwt.base64'), 'utf8');
  }

  async makeCertificate(): Promise<void> {
    const { cert, key } = await makeCertificate(this.environment.folder);
    copyFileSync(cert, this.certificate);
    copyFileSync(key, this.#place('/etc/codelanes/privkey.pem'));
  }

  /** Starts the bridge of a unit, on any free port. */
  async startBridge(unit: string): Promise<void> {
    const bridge = this.#start(unit, '--port', '0');
    this.url = await bridge.said(/https?:\/\/127\.0\.0\.1:\d+/);
  }

  /** Starts the worker of a unit; `more` is what the machine of a test needs. */
  async startWorker(unit: string, ...more: readonly string[]): Promise<void> {
    await this.#start(unit, '--allow-root', ...more).said('Worker build1 serves');
  }

  /** By which the bridge's certificate is known, where it has one. */
  get authority(): string | undefined {
    return this.url.startsWith('https:') ? readFileSync(this.certificate, 'utf8') : undefined;
  }

  get adminToken(): string {
    return readFileSync(this.#place('/var/lib/codelanes/tokens/admin'), 'utf8').trim();
  }

  async remove(): Promise<void> {
    for (const each of this.#running.splice(0).reverse()) await each.end('SIGKILL');
    this.environment.remove();
  }

  #start(unit: string, ...more: readonly string[]): Cli {
    const [, ...words] = startedBy(this.here(unit));
    const cli = Cli.start([...words, ...more], { environment: this.#surroundings() });
    this.#running.push(cli);
    return cli;
  }

  #surroundings(): Record<string, string> {
    const isSecure = this.url.startsWith('https:');
    return {
      HOME: this.environment.folder,
      ...(isSecure ? { NODE_EXTRA_CA_CERTS: this.certificate, CURL_CA_BUNDLE: this.certificate } : {}),
      ...(isSecure ? { CODELANES_ADMIN_TOKEN: this.adminToken } : {}),
    };
  }

  #place(path: string): string {
    return path
      .replace('/etc/codelanes', join(this.environment.folder, 'etc'))
      .replace('/var/lib/codelanes', join(this.environment.folder, 'state'));
  }

  #shim(name: string, line: string): void {
    const file = join(this.#programs, name);
    writeFileSync(file, `#!/bin/sh\n${line}\n`);
    chmodSync(file, 0o755);
  }
}
