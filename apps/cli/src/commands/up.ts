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
    args: () => ['--port', String(port), '--state', state],
    say,
  });
  const stop = stopRequested();
  const { url } = await bridge.start();
  // A bridge that comes back has to be found where the first one was.
  port = Number(new URL(url).port);
  const worker = new ManagedChild({ name: 'worker', args: () => workerArgs(flags, state, url), say });
  try {
    const { workspaces } = await worker.start();
    const { caller, admin } = tokenFiles(state);
    await writeConnection(state, { version: 1, url, workerId, workspaces, tokenFiles: { caller, admin } });
    console.log(
      howToCall({ url, workspaces, connectionFile: connectionFile(state), callerTokenFile: caller }),
    );
    await stop;
    console.error('codelanes: Stopping; calls that run have a moment to end. Ctrl-C again stops at once.');
  } finally {
    await worker.stop();
    await bridge.stop();
  }
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
