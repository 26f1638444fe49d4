import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { configSchema, isSecureCodeEnvironmentControlURL } from 'librechat-data-provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { blockOf, guide, GuideMachine, startedBy } from './guide-machine.js';
import { LibreChatServer } from './librechat-server.js';
import { signedToken } from './signed-token.js';
import { statusOfGenerationA } from './status-rules.js';

const units = guide.filter(({ use }) => use === 'unit');
const pwd = { protocolVersion: 1, operation: 'execute_command', workspaceId: 'app', command: 'pwd' } as const;

/** What each test below runs. */
const ran = new Set([
  ...['keys', 'doctor', 'services', 'status', 'create-pairing', 'pair', 'services-of-worker'],
  ...['remote-status', 'revoke', 'exclude'],
]);

let machine: GuideMachine;

beforeEach(() => {
  machine = new GuideMachine();
});
afterEach(async () => {
  await machine.remove();
});

function librechatWith(key: string): LibreChatServer {
  const { url, authority } = machine;
  const workerId = 'build1';
  const token = signedToken(key, { user: 'ann', tenant: 'main', workerId });
  return new LibreChatServer(url, token, { workerId, authority });
}

/** A command as an unmodified LibreChat sends it for a user, in a worktree that only its cwd names. */
async function expectLane(librechat: LibreChatServer): Promise<void> {
  const request = { ...pwd, cwd: 'services/api/.worktrees/fix-a', command: 'git branch --show-current' };
  expect(await librechat.result(request)).toMatchObject({ exitCode: 0, stdout: 'lane/fix-a\n' });
  const alias = { ...request, workspaceId: 'app:web', cwd: '.worktrees/fix-b' };
  expect(await librechat.result(alias)).toMatchObject({ exitCode: 0, stdout: 'lane/fix-b\n' });
}

/** What agents do who take the prompt for coordinators at its word: each of its commands, as it stands there. */
async function followPrompt(librechat: LibreChatServer): Promise<void> {
  const prompt = blockOf('prompt', 'coordinator');
  const written = (command: RegExp) => {
    const [found] = command.exec(prompt) ?? [];
    if (found === undefined) throw new Error(`the prompt has no ${command.source}`);
    return found;
  };
  const inCheckout = { ...pwd, workspaceId: 'app:web' };
  const run = async (command: string, cwd?: string) => {
    const result = await librechat.result({ ...inCheckout, command, ...(cwd === undefined ? {} : { cwd }) });
    expect(result).toMatchObject({ exitCode: 0 });
    return String(Reflect.get(result, 'stdout'));
  };
  await run(written(/^ +git worktree add .*$/m));
  const folders = ['task-a', 'task-b'].map((task) => written(new RegExp(`\\.worktrees/${task}`)));
  const work = 'touch "$(git branch --show-current)"; git add . && git commit -m Done';
  await Promise.all(folders.map((cwd) => run(work, cwd)));
  expect((await run(written(/^ +git log .*$/m))).match(/Done/g)).toHaveLength(2);
  await run(written(/git worktree remove \.worktrees\/[\w-]+/));
  expect(await run('ls')).toBe('name.txt\ntask-a\ntask-b\n');
  expect(await run('git worktree list')).not.toContain('.worktrees/task-a');
}

describe('docs/librechat.md', () => {
  it('has no command that no test runs', () => {
    const commands = guide.filter(({ language }) => language === 'sh');
    expect(commands.map(({ use, name }) => [use, ran.has(name ?? '')])).toEqual(
      commands.map(() => ['run', true]),
    );
    expect(commands).toHaveLength(ran.size);
  });

  it('has a librechat.yaml that LibreChat takes, and loses nothing of', () => {
    const written: unknown = parse(blockOf('file', 'librechat.yaml'));
    const taken = configSchema.safeParse(written);
    expect(taken.error?.issues).toBeUndefined();
    expect(taken.data).toMatchObject(Object(written));
    const sessions = taken.data?.endpoints?.agents?.statefulCodeSessions;
    expect(sessions?.environments?.map(({ baseURL }) => isSecureCodeEnvironmentControlURL(baseURL))).toEqual([
      true,
    ]);
    expect(isSecureCodeEnvironmentControlURL('https://bridge.example.org:4180/v1')).toBe(true);
  });

  it('has units that systemd takes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'codelanes-units-'));
    try {
      for (const [index, { name = '', text }] of units.entries()) {
        expect(startedBy(text)[0]).toBe('/usr/local/bin/codelanes');
        mkdirSync(join(folder, String(index)));
        // It looks whether the program is there.
        const file = join(folder, String(index), name);
        writeFileSync(file, text.replace('/usr/local/bin/codelanes', process.execPath));
        if (!existsSync('/usr/bin/systemd-analyze')) continue;
        const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', file]);
        expect(stderr.split('\n').filter((line) => line.includes(name))).toEqual([]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('sets up one machine', async () => {
    const key = await machine.makeKeys();
    expect(await machine.run('doctor')).toContain('Environment app');
    await machine.startBridge(blockOf('unit', 'codelanes-bridge.service'));
    await machine.startWorker(blockOf('unit', 'codelanes-worker.service'), '--bridge', machine.url);
    const started = await machine.run('services');
    for (const { name = '' } of units) expect(started).toContain(name.replace('.service', ''));
    const status = statusOfGenerationA.parse(JSON.parse(await machine.run('status')));
    expect(status).toMatchObject({ online: true, workerId: 'build1' });
    await expectLane(librechatWith(key));
    await machine.run('exclude');
    await followPrompt(librechatWith(key));
  }, 180_000);

  it('sets up three machines, and shuts one out', async () => {
    const key = await machine.makeKeys();
    await machine.makeCertificate();
    await machine.startBridge(blockOf('unit', 'codelanes-bridge.service', 'last'));
    const printed = await machine.run('create-pairing');
    machine.code = /codelanes pair \S+ (\S+)/.exec(printed)?.[1] ?? '';
    expect(await machine.run('pair')).toContain('is the worker build1');
    await machine.startWorker(blockOf('unit', 'codelanes-worker.service'));
    expect(await machine.run('services-of-worker')).toContain('codelanes-worker');
    expect(await machine.run('remote-status')).toContain('"online":true');
    const librechat = librechatWith(key);
    await expectLane(librechat);
    await machine.run('revoke');
    expect(await librechat.refusal(pwd)).toMatchObject({ code: 'WORKER_OFFLINE' });
  }, 180_000);
});
