import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { limits } from '@codelanes/protocol';
import type { Command } from 'commander';
import { pino } from 'pino';
import { parseBridgeUrl } from '../connection/bridge-url.js';
import { defaultStateFolder, ensureStateFolder } from '../connection/state-folder.js';
import { readToken, tokenFiles } from '../connection/tokens.js';
import { CliError } from '../errors/cli-error.js';
import type { LogLevel } from '../options/log-level.js';
import { logLevelOption } from '../options/log-level.js';
import { repeated } from '../options/lists.js';
import { wholeNumber } from '../options/numbers.js';
import { announceReady } from '../processes/ready-channel.js';
import { stopRequested } from '../processes/stop-request.js';
import { defaultPort } from './bridge.js';

export const defaultSlots = 4;

interface WorkerFlags {
  readonly root?: readonly string[];
  readonly environment?: readonly string[];
  readonly linkedWorktreeLanes?: boolean;
  readonly slots: number;
  readonly workerId?: string;
  readonly bridge?: string;
  readonly tokenFile?: string;
  readonly state?: string;
  readonly allowRoot?: boolean;
  readonly takeOver?: boolean;
  readonly insecureHttp?: boolean;
  readonly logLevel: LogLevel;
}

export function addWorkerCommand(program: Command): void {
  program
    .command('worker')
    .description('run a worker: it serves folders of this machine through a bridge')
    .option('--root <dir>', 'a folder to serve; may be repeated', repeated)
    .option('--environment <file.yaml>', 'a definition of a folder to serve; may be repeated', repeated)
    .option('--linked-worktree-lanes', 'give each linked worktree under .worktrees a lane of its own')
    .option('--slots <n>', 'commands that may run at once', wholeNumber(1, limits.slots), defaultSlots)
    .option('--worker-id <id>', 'the identity at the bridge (default: the name of this machine)')
    .option(
      '--bridge <url>',
      `address of the bridge (default: the one it is paired with, else http://127.0.0.1:${defaultPort})`,
    )
    .option(
      '--token-file <file>',
      "file with the bridge's token for workers (default: that of the state folder)",
    )
    .option('--state <dir>', "where journals, locks and the lanes' homes are kept")
    .option('--allow-root', 'serve although this is root; the walls are hardened for it')
    .option('--take-over', 'replace another live worker that has this identity')
    .option('--insecure-http', 'allow plain http to another machine: the token travels in clear text')
    .addOption(logLevelOption())
    .action(runWorker);
}

async function runWorker(flags: WorkerFlags): Promise<void> {
  const state = flags.state ?? defaultStateFolder();
  await ensureStateFolder(state);
  const workerId = flags.workerId ?? hostname();
  const log = pino({ name: 'codelanes-worker', level: flags.logLevel }, pino.destination(2));
  try {
    const { startWorker } = await workerPackage();
    const roots = await rootsOf(flags);
    const { bridgeUrl, ...access } = await accessOf(flags, state, workerId);
    const worker = startWorker(
      {
        bridgeUrl,
        ...access,
        workerId,
        roots,
        slots: flags.slots,
        stateDir: state,
        allowRoot: flags.allowRoot ?? false,
        takeOver: flags.takeOver ?? false,
        insecureHttp: flags.insecureHttp ?? false,
      },
      log,
    );
    void stopRequested().then(worker.stop);
    await worker.ready;
    const workspaces = roots.map(({ id }) => id);
    if (!announceReady({ kind: 'worker', workerId, workspaces })) {
      console.log(`Worker ${workerId} serves ${workspaces.join(', ')} through ${bridgeUrl}.`);
    }
    await worker.done;
  } catch (error) {
    throw await startFailure(error);
  }
}

/** A worker that is paired has a key for one bridge; any other shows the token for workers. */
async function accessOf(
  { bridge, tokenFile, insecureHttp = false }: WorkerFlags,
  state: string,
  workerId: string,
) {
  const { keyFileOf, readWorkerKey } = await workerPackage();
  const keyFile = keyFileOf(state, workerId);
  if (tokenFile === undefined && existsSync(keyFile)) {
    const { bridgeUrl } = readWorkerKey(keyFile);
    return { bridgeUrl: parseBridgeUrl(bridge ?? bridgeUrl, insecureHttp), keyFile };
  }
  return {
    bridgeUrl: parseBridgeUrl(bridge ?? `http://127.0.0.1:${defaultPort}`, insecureHttp),
    token: await readToken(tokenFile ?? tokenFiles(state).worker),
  };
}

/** The worker's own refusals say in one message what is wrong and what to do. */
async function startFailure(error: unknown): Promise<unknown> {
  const { DefinitionError, KeyFileError, OptionsError, PreparationError, RootError, WorkerRefused } =
    await workerPackage();
  const isRefusal = [
    DefinitionError,
    KeyFileError,
    OptionsError,
    PreparationError,
    RootError,
    WorkerRefused,
  ].some((kind) => error instanceof kind);
  if (!isRefusal || !(error instanceof Error)) return error;
  return new CliError(error.message, 'The worker serves nothing; mend that and start it again.', {
    cause: error,
  });
}

/** What the flags ask to serve; the worker itself judges folders and ids. */
async function rootsOf({ root = [], environment = [], linkedWorktreeLanes = false }: WorkerFlags) {
  if (root.length + environment.length === 0) {
    throw new CliError('A worker needs something to serve.', 'Give --root DIR or --environment FILE.yaml.');
  }
  const { loadDefinitions, refuseNotRunYet, rootIdOf, rootOfDefinition } = await workerPackage();
  const plain = root.map((folder) => ({ id: rootIdOf(resolve(folder)), root: folder, linkedWorktreeLanes }));
  const definitions = loadDefinitions(environment, plain);
  for (const definition of definitions) refuseNotRunYet(definition);
  return [...plain, ...definitions.map((definition) => rootOfDefinition(definition, linkedWorktreeLanes))];
}

/** Only this command needs it; the others start faster without. */
function workerPackage() {
  return import('@codelanes/worker');
}
