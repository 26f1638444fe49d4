import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a');
  // In a user namespace of its own, whose settings are its owner's: no other one can be made below it.
  const script = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" "$@"';
  const launcher = ['unshare', '--user', '--map-root-user', 'sh', '-c', script];
  deployment = await Deployment.start(repository, { launcher });
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

describe('a machine on which no sandbox can be made', () => {
  it.each([
    ['the checkout', undefined],
    ['a worktree', 'a'],
  ])('[T17] runs no command in %s rather than one without walls, and says why', async (_, worktree) => {
    const lane = worktree === undefined ? {} : { worktree };
    const command = { operation: 'execute_command', command: 'touch ran' };
    const refusal = await deployment.caller().refused({ ...command, ...lane });
    expect(refusal.code).toBe('WORKER_MISMATCH');
    expect(refusal.error).toContain('No command is run on this machine.');
    expect(existsSync(repository.path('ran', worktree))).toBe(false);
    const read = { operation: 'read_file', path: 'file.txt', ...lane };
    expect(await deployment.caller().succeed(read)).toMatchObject({ content: 'one' });
  });
});
