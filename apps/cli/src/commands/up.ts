import { resolve } from 'node:path';
import { limits } from '@codelanes/protocol';
import type { Command } from 'commander';
import { connectionFile, writeConnection } from '../connection/connection-file.js';
import { defaultPort } from '../connection/default-port.js';
import { defaultStateFolder, ensureStateFolder } from '../connection/state-folder.js';
import { ensureTokens, tokenFiles } from '../connection/tokens.js';
import { UpLock } from '../connection/up-lock.js';
import { refuseExcessWords } from '../options/excess-words.js';
import { repeated } from '../options/lists.js';
import { wholeNumber } from '../options/numbers.js';
import { ManagedChild } from '../processes/managed-child.js';
import type { ReadyMessageOf } from '../processes/ready-channel.js';
import { stopRequested } from '../processes/stop-request.js';
import { howToCall } from '../processes/how-to-call.js';
import { defaultSlots } from './worker.js';

interface UpFlags {
  readonly root?: readonly string[];
  readonly environment?: readonly string[];
  readonly port: number;
  readonly slots: number;
  readonly state?: string;
  readonly allowRoot?: boolean;
}

const workerId = 'local';

/** A nursery is swept more quickly than the threads that would share the work are woken. */
const nodeFlags = ['--no-parallel-scavenge'];
/** Starting a sandbox copies the map of the worker's memory: a small nursery leaves a third less of it to copy. */
const workerNodeFlags = [...nodeFlags, '--max-semi-space-size=1'];

/** Its terminal is a person's. */
const logArgs = ['--log-format', 'text'];

/** All callers of this machine share one token, so that no share is to be kept for others. */
const ownMachineArgs = ['--rate-limit', '0', '--queue-share', String(limits.queueLength)];

export function addUpCommand(program: Command): void {
  const command = program
    .command('up')
    .description('run a bridge and a worker on this machine, with a lane for each linked worktree')
    .option('--root <dir>', 'a folder to serve; may be repeated', repeated)
    .option('--environment <file.yaml>', 'a definition of a folder to serve; may be repeated', repeated)
    .option('--port <port>', 'port of the bridge; 0 takes any free one', wholeNumber(0, 65_535), defaultPort)
    .option('--slots <n>', 'commands that may run at once', wholeNumber(1, limits.slots), defaultSlots)
    .option('--state <dir>', "where tokens, journals and the lanes' homes are kept")
    .option('--allow-root', 'serve although this is root; the walls are hardened for it');
  command.allowExcessArguments().action(async (flags: UpFlags) => {
    refuseExcessWords(command, '--root');
    if (flags.root === undefined && flags.environment === undefined) {
      command.error('error: give --root DIR or --environment FILE.yaml, for what is to be served');
    }
    await runUp(flags);
  });
}

async function runUp(flags: UpFlags): Promise<void> {
  // Other commands are run from other folders.
  const state = resolve(flags.state ?? defaultStateFolder());
  await ensureStateFolder(state);
  const lock = await UpLock.take(state);
  try {
    await ensureTokens(state);
    await serve(flags, state);
  } finally {
    lock.close();
  }
}

async function serve(flags: UpFlags, state: string): Promise<void> {
  let { port } = flags;
  let url = '';
  const bridge = new ManagedChild({
    name: 'bridge',
    nodeFlags,
    args: () => ['--port', String(port), '--state', state, ...logArgs, ...ownMachineArgs],
    say,
  });
  const worker = new ManagedChild({
    name: 'worker',
    args: () => workerArgs(flags, state, url),
    nodeFlags: workerNodeFlags,
    say,
  });
  let isStopping = false;
  const stop = stopRequested(() => {
    bridge.kill();
    worker.kill();
  }).then(() => {
    isStopping = true;
  });
  const start = async () => {
    ({ url } = await bridge.start());
    // A bridge that comes back has to be found where the first one was.
    port = Number(new URL(url).port);
    return isStopping ? undefined : worker.start();
  };
  try {
    // The setup of an environment can take minutes: whoever stops in that time does not wait for it.
    const served = await Promise.race([start(), stop]);
    if (served !== undefined) {
      await tellHowToCall(state, url, served);
      await stop;
    }
    say(
      'Stopping: nothing new is taken, calls that run have 20 seconds to end. Ctrl-C again ends them at once.',
    );
  } finally {
    // The bridge first: it turns away what waits and has what runs ended, for which it needs the worker.
    // Both at once: a worker that finds its bridge gone would look for it.
    await Promise.all([bridge.stop(), worker.stop()]);
  }
  say('Stopped.');
}

async function tellHowToCall(
  state: string,
  url: string,
  { workspaces, lanes }: ReadyMessageOf<'worker'>,
): Promise<void> {
  const { caller, admin } = tokenFiles(state);
  await writeConnection(state, {
    version: 1,
    url,
    workerId,
    workspaces: [...workspaces],
    tokenFiles: { caller, admin },
  });
  console.log(
    howToCall({
      url,
      workspaces,
      lanes,
      connectionFile: connectionFile(state),
      callerTokenFile: caller,
      ...(state !== defaultStateFolder() && { state }),
    }),
  );
}

function say(line: string): void {
  console.error(`codelanes: ${line}`);
}

function workerArgs(
  { root = [], environment = [], slots, allowRoot }: UpFlags,
  state: string,
  url: string,
): string[] {
  return [
    ...root.flatMap((folder) => ['--root', folder]),
    ...environment.flatMap((file) => ['--environment', file]),
    '--linked-worktree-lanes',
    ...['--slots', String(slots)],
    ...['--worker-id', workerId],
    ...['--bridge', url],
    ...['--state', state],
    ...logArgs,
    ...(allowRoot === true ? ['--allow-root'] : []),
  ];
}
