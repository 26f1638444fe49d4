import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BridgeOptions } from '@codelanes/bridge';
import { Caller } from './caller.js';
import { Child } from './child.js';
import { Cli } from './cli.js';

/** A folder with several real repositories, and a definition of it beside. */
export class EnvironmentFolder {
  readonly folder: string;
  readonly root: string;
  readonly file: string;

  /** @param disk where it is made: another file system than that of temporary files, where a test needs one. */
  constructor(disk = tmpdir()) {
    this.folder = realpathSync(mkdtempSync(join(disk, 'codelanes-e2e-')));
    this.root = join(this.folder, 'src');
    this.file = join(this.folder, 'environment.yaml');
  }

  /** Each repository has a commit, the file `name.txt` with its name in it, and the worktrees that are asked for. */
  addRepository(name: string, ...worktrees: readonly string[]): void {
    const checkout = join(this.root, name);
    mkdirSync(checkout, { recursive: true });
    const git = (...args: readonly string[]) => this.git(name, ...args);
    git('init', '--quiet', '--initial-branch=main');
    git('config', 'user.name', 'Tester');
    git('config', 'user.email', 'tester@codelanes.invalid');
    writeFileSync(join(checkout, '.gitignore'), '.worktrees/\n');
    writeFileSync(join(checkout, 'name.txt'), `${name}\n`);
    git('add', '.');
    git('commit', '--quiet', '--message=Begin');
    for (const worktree of worktrees) {
      git('worktree', 'add', '--quiet', '-b', `lane/${worktree}`, join('.worktrees', worktree));
    }
  }

  /** Git as the operator runs it, on the host, apart from any settings of this machine. */
  git(repository: string, ...args: readonly string[]): string {
    const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    return execFileSync('git', ['-C', this.path(repository), ...args], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  path(...segments: readonly string[]): string {
    return join(this.root, ...segments);
  }

  define(...lines: readonly string[]): void {
    writeFileSync(this.file, `${lines.join('\n')}\n`, { mode: 0o600 });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A bridge, and a worker that the command line starts on a definition. */
export class EnvironmentDeployment {
  readonly #tokens: Tokens;
  readonly #environment: EnvironmentFolder;
  readonly #bridge: Child;
  readonly #url: string;
  #worker: Cli | undefined;

  private constructor(environment: EnvironmentFolder, tokens: Tokens, bridge: Child, url: string) {
    this.#environment = environment;
    this.#tokens = tokens;
    this.#bridge = bridge;
    this.#url = url;
  }

  /** With no slots there is no worker yet: a test begins it. */
  static async start(
    environment: EnvironmentFolder,
    { slots, bridge = {} }: { readonly slots: number; readonly bridge?: Partial<BridgeOptions> },
  ): Promise<EnvironmentDeployment> {
    const tokens = { caller: token(), other: token(), admin: token(), worker: token() };
    const { caller, other, admin, worker } = tokens;
    const { child, announced } = await Child.start('bridge', {
      port: 0,
      tokens: { callers: [caller, other], admin, worker },
      logLevel: 'warn',
      rateLimit: 'off',
      ...bridge,
    } satisfies BridgeOptions);
    const deployment = new EnvironmentDeployment(environment, tokens, child, announced);
    if (slots > 0) await deployment.startWorker(slots);
    return deployment;
  }

  async startWorker(slots: number): Promise<void> {
    await this.beginWorker(slots).said('Worker w1 serves');
  }

  /** Starts a worker, whatever comes of it; on the environment's file and further ones. */
  beginWorker(slots: number, ...files: readonly string[]): Cli {
    const tokenFile = join(this.#environment.folder, 'worker.token');
    writeFileSync(tokenFile, this.#tokens.worker, { mode: 0o600 });
    const worker = Cli.start([
      ...['worker', '--slots', String(slots), '--worker-id', 'w1'],
      ...[this.#environment.file, ...files].flatMap((file) => ['--environment', file]),
      ...['--bridge', this.#url, '--token-file', tokenFile, '--allow-root'],
      ...['--state', join(this.#environment.folder, 'state'), '--log-level', 'warn'],
    ]);
    this.#worker = worker;
    return worker;
  }

  /** As a machine that loses power, or an operator without patience. */
  async killWorker(): Promise<void> {
    await this.#worker?.end('SIGKILL');
  }

  /** How the command line finds it, as a caller. */
  get asCaller(): Record<string, string> {
    return { CODELANES_URL: this.#url, CODELANES_TOKEN: this.#tokens.caller, CODELANES_WORKER: 'w1' };
  }

  caller(who: 'caller' | 'other' = 'caller'): Caller {
    return new Caller(this.#url, this.#tokens[who], this.#tokens.admin);
  }

  async stop(): Promise<void> {
    await this.killWorker();
    await this.#bridge.end('SIGKILL');
  }
}

type Tokens = Readonly<Record<'caller' | 'other' | 'admin' | 'worker', string>>;

function token(): string {
  return randomBytes(16).toString('hex');
}
