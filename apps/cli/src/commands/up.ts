import { limits } from '@codelanes/protocol';
import type { Command } from 'commander';
import { connectionFile, writeConnection } from '../connection/connection-file.js';
import { defaultStateFolder, ensureStateFolder } from '../connection/state-folder.js';
import { ensureTokens, tokenFiles } from '../connection/tokens.js';
import { repeated } from '../options/lists.js';
import { wholeNumber } from '../options/numbers.js';
import { ManagedChild } from '../processes/managed-child.js';
import { stopRequested } from '../processes/stop-request.js';
import { howToCall } from '../processes/how-to-call.js';
import { defaultPort } from './bridge.js';
import { defaultSlots } from './worker.js';

interface UpFlags {
  readonly root: readonly string[];
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

/** All callers of this machine share one token, so that no share is to be kept for others. */
const ownMachineArgs = ['--rate-limit', '0', '--queue-share', String(limits.queueLength)];

export function addUpCommand(program: Command): void {
  program
    .command('up')
    .description('run a bridge and a worker on this machine, with a lane for each linked worktree')
    .requiredOption('--root <dir>', 'a folder to serve; may be repeated', repeated)
    .option('--port <port>', 'port of the bridge; 0 takes any free one', wholeNumber(0, 65_535), defaultPort)
    .option('--slots <n>', 'commands that may run at once', wholeNumber(1, limits.slots), defaultSlots)
    .option('--state <dir>', "where tokens, journals and the lanes' homes are kept")
    .option('--allow-root', 'serve although this is root; the walls are hardened for it')
    .action(runUp);
}

async function runUp(flags: UpFlags): Promise<void> {
  const state = flags.state ?? defaultStateFolder();
  await ensureStateFolder(state);
  await ensureTokens(state);
  let { port } = flags;
  const say = (line: string) => {
    console.error(`codelanes: ${line}`);
  };
  const bridge = new ManagedChild({
    name: 'bridge',
    nodeFlags,
    args: () => ['--port', String(port), '--state', state, ...ownMachineArgs],
    say,
  });
  let url = '';
  const worker = new ManagedChild({
    name: 'worker',
    args: () => workerArgs(flags, state, url),
    nodeFlags: workerNodeFlags,
    say,
  });
  const stop = stopRequested(() => {
    bridge.kill();
    worker.kill();
  });
  ({ url } = await bridge.start());
  // A bridge that comes back has to be found where the first one was.
  port = Number(new URL(url).port);
  try {
    const { workspaces } = await worker.start();
    const { caller, admin } = tokenFiles(state);
    await writeConnection(state, { version: 1, url, workerId, workspaces, tokenFiles: { caller, admin } });
    console.log(
      howToCall({ url, workspaces, connectionFile: connectionFile(state), callerTokenFile: caller }),
    );
    await stop;
    say(
      'Stopping: nothing new is taken, calls that run have half a minute to end. Ctrl-C again ends them at once.',
    );
  } finally {
    // The bridge first: it turns away what waits and has what runs ended, for which it needs the worker.
    await bridge.stop();
    await worker.stop();
  }
  say('Stopped.');
}

function workerArgs({ root, slots, allowRoot }: UpFlags, state: string, url: string): string[] {
  return [
    ...root.flatMap((folder) => ['--root', folder]),
    '--linked-worktree-lanes',
    ...['--slots', String(slots)],
    ...['--worker-id', workerId],
    ...['--bridge', url],
    ...['--state', state],
    ...(allowRoot === true ? ['--allow-root'] : []),
  ];
}
