import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Cli } from './rig/cli.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let up: Cli | undefined;
let state: string;

beforeEach(() => {
  repository = Repository.create('a');
  state = join(repository.folder, 'state');
});
afterEach(async () => {
  await up?.end('SIGKILL');
  up = undefined;
  repository.remove();
});

const served = 'These facts are kept in';
const words = (...what: readonly string[]) => [
  'up',
  ...what,
  '--port',
  '0',
  '--state',
  state,
  '--allow-root',
];
const exec = (...what: readonly string[]) => Cli.run(['exec', '--state', state, ...what]);

/** A PATH on which a worker finds what it cannot do without, and no Git. */
function pathWithoutGit(): string {
  const folder = join(repository.folder, 'bin');
  mkdirSync(folder);
  const flock = execFileSync('sh', ['-c', 'command -v flock'], { encoding: 'utf8' }).trim();
  symlinkSync(flock, join(folder, 'flock'));
  return folder;
}

describe('codelanes up', () => {
  it('says in sentences why the machine runs no commands, and so does whoever refuses one', async () => {
    up = Cli.start(words('--root', repository.root), { environment: { PATH: pathWithoutGit() } });
    await up.said(served);
    const why = 'No command is run on this machine. There is no git on the PATH: install it.';
    expect(up.stderr).toContain(`codelanes: The worker: ${why}\n`);
    const { status, stderr } = await exec('--', 'true');
    expect(status).toBe(125);
    expect(stderr).toContain(`does not offer execute_command. ${why}`);
  });

  it('shows commands of a repository where the root is none, and a refusal names it', async () => {
    mkdirSync(join(repository.folder, 'etc'));
    const file = join(repository.folder, 'etc/env.yaml');
    const lines = [
      'name: app',
      'root: ../src',
      'linkedWorktreeLanes: true',
      'repositories: [{ path: repo }]',
    ];
    mkdirSync(join(repository.folder, 'src'));
    execFileSync('git', ['clone', '--quiet', repository.root, join(repository.folder, 'src/repo')]);
    writeFileSync(file, lines.join('\n'), { mode: 0o600 });
    up = Cli.start(words('--environment', file));
    await up.said(served);
    expect(up.stdout).toContain(`codelanes exec --state ${state} --repository repo --worktree a -- npm test`);
    const { status, stderr } = await exec('--worktree', 'a', '--', 'true');
    expect(status).toBe(125);
    expect(stderr).toContain('name one of its repositories that do: "repo"');
  });

  it('ends at Ctrl-C without a warning that its own bridge has ended', async () => {
    up = Cli.start(words('--root', repository.root));
    await up.said(served);
    const { status, stderr } = await up.end('SIGINT');
    expect(status).toBe(0);
    expect(stderr).toMatch(/^codelanes: Stopping: .*\ncodelanes: Stopped\.\n$/u);
  });

  it('has nothing to add where the worker has said why it does not start', async () => {
    up = Cli.start(words('--root', join(repository.folder, 'missing')));
    const { status, stderr } = await up.ended;
    expect(status).toBe(1);
    expect(stderr.match(/^codelanes: /gmu)).toHaveLength(1);
    expect(stderr).toContain('does not exist');
  });
});
