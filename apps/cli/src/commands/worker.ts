import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { limits } from '@codelanes/protocol';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { authorityFlag, readAuthority } from '../connection/authority.js';
import { defaultPort } from '../connection/default-port.js';
import { defaultStateFolder, ensureStateFolder } from '../connection/state-folder.js';
import { workerAccess } from '../connection/worker-access.js';
import { CliError } from '../errors/cli-error.js';
import { workerFailure } from '../errors/worker-failure.js';
import { loggerOf } from '../logs/logger.js';
import { withLogOptions, type LogFlags } from '../options/log-flags.js';
import { refuseExcessWords } from '../options/excess-words.js';
import { repeated } from '../options/lists.js';
import { wholeNumber } from '../options/numbers.js';
import { announceReady, type LanesOfWorkspace } from '../processes/ready-channel.js';
import { stopRequested } from '../processes/stop-request.js';

export const defaultSlots = 4;

interface WorkerFlags extends LogFlags {
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
  readonly caFile?: string;
}

export function addWorkerCommand(program: Command): void {
  const command = program
    .command('worker')
    .allowExcessArguments()
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
    .option(authorityFlag.flags, `${authorityFlag.description}; a paired worker has it`)
    .option('--insecure-http', 'allow plain http to another machine: the token travels in clear text');
  withLogOptions(command).action(async (flags: WorkerFlags) => {
    refuseExcessWords(command, '--root');
    await runWorker(flags);
  });
}

async function runWorker(flags: WorkerFlags): Promise<void> {
  const state = flags.state ?? defaultStateFolder();
  await ensureStateFolder(state);
  const workerId = flags.workerId ?? hostname();
  const log = loggerOf('worker', flags, 2);
  try {
    const { startWorker } = await workerPackage();
    const roots = await rootsOf(flags, log);
    const access = await workerAccess(flags, state, workerId);
    const worker = startWorker(
      {
        ...access,
        authority: await readAuthority(flags.caFile),
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
    if (!announceReady({ kind: 'worker', workerId, workspaces, lanes: lanesOf(roots[0]) })) {
      console.log(`Worker ${workerId} serves ${workspaces.join(', ')} through ${access.bridgeUrl}.`);
    }
    await worker.done;
  } catch (error) {
    const { WorkerStopped } = await workerPackage();
    if (!(error instanceof WorkerStopped)) throw await workerFailure(error, workerId);
    console.error(`codelanes: ${error.message}`);
  }
}

/** What the flags ask to serve; the worker itself judges folders and ids. */
async function rootsOf(
  { root = [], environment = [], linkedWorktreeLanes = false }: WorkerFlags,
  log: Logger,
) {
  if (root.length + environment.length === 0) {
    throw new CliError('A worker needs something to serve.', 'Give --root DIR or --environment FILE.yaml.');
  }
  const { loadDefinitions, notUsedYet, rootIdOf, rootOfDefinition } = await workerPackage();
  const plain = root.map((folder) => ({ id: rootIdOf(resolve(folder)), root: folder, linkedWorktreeLanes }));
  const definitions = loadDefinitions(environment, plain);
  for (const sentence of definitions.flatMap(notUsedYet)) log.warn(sentence);
  return [...plain, ...definitions.map((definition) => rootOfDefinition(definition, linkedWorktreeLanes))];
}

/** Where the examples of commands may show a worktree. */
function lanesOf(root: Awaited<ReturnType<typeof rootsOf>>[number] | undefined): LanesOfWorkspace {
  if (root?.linkedWorktreeLanes !== true) return { in: 'none' };
  if (existsSync(join(root.root, '.git'))) return { in: 'checkout' };
  const first = 'repositories' in root ? root.repositories?.[0] : undefined;
  return first === undefined ? { in: 'none' } : { in: 'repository', repository: first.path };
}

/** Only this command needs it; the others start faster without. */
function workerPackage() {
  return import('@codelanes/worker');
}
