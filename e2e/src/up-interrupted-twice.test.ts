import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Cli } from './rig/cli.js';
import { childrenOf } from './rig/live-children.js';
import { newMarker, untilGone, untilSleeping } from './rig/live-processes.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let up: Cli;
let state: string;

beforeEach(async () => {
  repository = Repository.create('a');
  state = join(repository.folder, 'state');
  await startUp();
});
afterEach(async () => {
  await up.end('SIGKILL');
  repository.remove();
});

it('a second Ctrl-C ends what runs, and all that "up" has started, at once', async () => {
  const marker = newMarker();
  const call = Cli.start(['exec', '--state', state, '--worktree', 'a', '--', `sleep ${marker}`]);
  await untilSleeping(marker);
  const children = childrenOf(up.process.pid ?? 0).map(({ pid }) => pid);
  expect(children).toHaveLength(2);
  up.process.kill('SIGINT');
  await up.said('Ctrl-C again ends them at once.');
  expect((await up.end('SIGINT')).status).toBe(1);
  await untilGone(marker);
  for (const pid of children) await expect.poll(() => isThere(pid)).toBe(false);
  expect((await call.ended).status).not.toBe(0);
  await startUp();
  expect((await up.end('SIGTERM')).status).toBe(0);
});

async function startUp(): Promise<void> {
  up = Cli.start(['up', '--root', repository.root, '--port', '0', '--state', state, '--allow-root']);
  await up.said('These facts are kept in');
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
