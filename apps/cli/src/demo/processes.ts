import { join } from 'node:path';
import { BridgeClient } from '../client/bridge-client.js';
import { ensureStateFolder } from '../connection/state-folder.js';
import { ensureTokens } from '../connection/tokens.js';
import { ManagedChild } from '../processes/managed-child.js';

export interface DemoProcesses {
  readonly client: BridgeClient;
  readonly workerId: string;
  readonly workspaceId: string;
  readonly stop: () => Promise<void>;
}

const workerId = 'demo';

/** Starts a bridge and a worker with two slots as real processes, for one repository. */
export async function startProcesses(repository: string, folder: string): Promise<DemoProcesses> {
  const state = join(folder, 'state');
  await ensureStateFolder(state);
  const tokens = await ensureTokens(state);
  const say = (line: string) => {
    console.error(line);
  };
  const bridge = new ManagedChild({ name: 'bridge', args: () => ['--port', '0', '--state', state], say });
  const { url } = await bridge.start();
  const worker = new ManagedChild({ name: 'worker', args: () => workerArgs(repository, state, url), say });
  try {
    const { workspaces } = await worker.start();
    const client = new BridgeClient({ url, token: tokens.caller });
    const stop = async () => {
      await client.close();
      await worker.stop();
      await bridge.stop();
    };
    return { client, workerId, workspaceId: workspaces[0] ?? '', stop };
  } catch (error) {
    await bridge.stop();
    throw error;
  }
}

function workerArgs(repository: string, state: string, url: string): string[] {
  // The demo touches nothing but its own folder, so that it may be run as root without being asked.
  const asRoot = process.getuid?.() === 0 ? ['--allow-root'] : [];
  return [
    ...['--root', repository, '--linked-worktree-lanes', '--slots', '2'],
    ...['--worker-id', workerId, '--bridge', url, '--state', state, ...asRoot],
  ];
}
