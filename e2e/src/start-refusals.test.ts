import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BridgeOptions } from '@codelanes/bridge';
import type { WorkerOptions } from '@codelanes/worker';
import { Child } from './rig/child.js';
import { Cli } from './rig/cli.js';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a');
  deployment = await Deployment.start(repository);
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

/** What a worker says that cannot start; nothing of it serves. */
function refusalOf(options: () => Partial<WorkerOptions>): Promise<string> {
  const { stateDir, worker } = deployment;
  return deployment
    .startWorker({ workerId: 'w2', stateDir: `${stateDir}-2`, ...options() })
    .then(
      () => 'it started',
      (error: unknown) => String(error),
    )
    .finally(() => {
      deployment.worker = worker;
    });
}

const folders = (number: number) =>
  Array.from({ length: number }, (_, index) => {
    const root = join(repository.folder, `root${index}`);
    mkdirSync(root, { recursive: true });
    return { id: `r${index}`, root };
  });

describe('a worker does not start', () => {
  it.each<[string, () => Partial<WorkerOptions>, RegExp]>([
    ['without a root', () => ({ roots: [] }), /at least one root/],
    [
      'with a root that is a file',
      () => ({ roots: [{ id: 'r', root: repository.path('file.txt') }] }),
      /is not a folder: name the folder/,
    ],
    [
      'with a root that is missing',
      () => ({ roots: [{ id: 'r', root: repository.path('missing') }] }),
      /does not exist: name an existing folder/,
    ],
    ['with the root /', () => ({ roots: [{ id: 'r', root: '/' }] }), /would give agents the whole machine/],
    [
      'with a root that holds its state',
      () => ({ roots: [{ id: 'r', root: repository.folder }], home: '/var/tmp' }),
      /The state folder .* lies in the root/,
    ],
    [
      'with a root that holds the home folder',
      () => ({ roots: [{ id: 'r', root: repository.folder }], stateDir: '/var/tmp/codelanes-none' }),
      /holds your home folder/,
    ],
    [
      'with roots that overlap',
      () => ({
        roots: [
          { id: 'r', root: repository.root },
          { id: 's', root: repository.path('', 'a') },
        ],
      }),
      /overlap: one folder has one lane/,
    ],
    [
      'with two roots of one id',
      () => ({ roots: folders(2).map(({ root }) => ({ id: 'same', root })) }),
      /Two roots bear the id "same"/,
    ],
    [
      'with an illegal id',
      () => ({ roots: folders(1).map(({ root }) => ({ id: 'a/b', root })) }),
      /The id "a\/b" is not one/,
    ],
    ['with 33 roots', () => ({ roots: folders(33) }), /at most 32 roots; 33 were given/],
    ['with 0 slots', () => ({ slots: 0 }), /slots/],
    ['with 9 slots', () => ({ slots: 9 }), /slots/],
    ['with a worker id of 129 characters', () => ({ workerId: 'w'.repeat(129) }), /workerId/],
    [
      'with plain http to another machine',
      () => ({ bridgeUrl: 'http://192.0.2.1:4180' }),
      /plain http to another machine.*--insecure-http/,
    ],
    ['with an address that is none', () => ({ bridgeUrl: 'ftp://127.0.0.1' }), /bridgeUrl/],
    [
      'with a token that the bridge does not know',
      () => ({ roots: folders(1), token: 'x'.repeat(32) }),
      /does not know the bearer token/,
    ],
    [
      'with the token of a caller',
      () => ({ roots: folders(1), token: deployment.tokens.caller }),
      /takes a token for worker/,
    ],
  ])('%s, and says why', async (_what, options, sentence) => {
    expect(await refusalOf(options)).toMatch(sentence);
  });

  it('but with 1 and 8 slots, and with 32 roots', async () => {
    const first = deployment.worker;
    const stateDir = `${deployment.stateDir}-3`;
    for (const slots of [1, 8]) {
      const worker = await deployment.startWorker({
        workerId: `slots${slots}`,
        stateDir,
        roots: folders(1),
        slots,
      });
      await worker.end('SIGTERM');
    }
    const worker = await deployment.startWorker({ workerId: 'w32', stateDir, roots: folders(32) });
    const status = await deployment.caller().send('GET', '/v1/bridge/workers/w32/status');
    expect(status.text).toContain('"id":"r31"');
    await worker.end('SIGTERM');
    deployment.worker = first;
  });
});

describe('a bridge does not start', () => {
  const tokens = { callers: ['c'.repeat(16)], admin: 'a'.repeat(16), worker: 'w'.repeat(16) };
  const good = { port: 0, tokens, logLevel: 'error' } as const;

  it.each<[string, BridgeOptions, RegExp]>([
    ['beyond this machine', { ...good, host: '0.0.0.0' }, /plain HTTP beyond this machine/],
    [
      'with a short token',
      { ...good, tokens: { ...tokens, admin: 'short' } },
      /tokens\.admin: a token has at least 16/,
    ],
    ['with 9 slots', { ...good, slots: 9 }, /option slots/],
  ])('%s, and says why', async (_what, options, sentence) => {
    await expect(Child.start('bridge', options)).rejects.toThrow(sentence);
  });
});

describe('the command line ends with status 2 or 1, a line of what, and a line of what to do', () => {
  const state = () => join(repository.folder, 'cli-state');

  it.each<[string, () => string[], number, RegExp]>([
    ['an unknown command', () => ['fly'], 2, /unknown command 'fly'/],
    ['0 slots', () => ['up', '--root', repository.root, '--slots', '0'], 2, /whole number from 1 to 8/],
    ['a call id that is none', () => ['cancel', 'x'], 2, /32 lower-case hex digits/],
    ['a time-out beyond the limit', () => ['exec', '--timeout', '300.5', '--', 'true'], 2, /at most 300/],
    ['nothing to serve', () => ['worker', '--state', state()], 1, /needs something to serve/],
    ['no bridge at all', () => ['lanes', '--state', state()], 1, /No bridge is known[^]*codelanes up --root/],
    [
      'a bridge by plain http elsewhere',
      () => ['lanes', '--url', 'http://192.0.2.1', '--worker', 'w'],
      1,
      /clear text[^]*Use https/,
    ],
    [
      'a root that is a file',
      () => {
        mkdirSync(state(), { recursive: true });
        writeFileSync(join(state(), 'worker.token'), `${'x'.repeat(32)}\n`, { mode: 0o600 });
        const token = ['--token-file', join(state(), 'worker.token')];
        return [
          'worker',
          '--root',
          repository.path('file.txt'),
          '--allow-root',
          '--state',
          state(),
          ...token,
        ];
      },
      1,
      /is not a folder/,
    ],
  ])('for %s', async (_what, words, status, sentence) => {
    const ended = await Cli.run(words());
    expect(ended.stderr).toMatch(sentence);
    expect(ended).toMatchObject({ status, stdout: '' });
    expect(ended.stderr).not.toMatch(/\n {4}at /);
  });

  it('for what is no refusal, too: a file in the place of a folder of its state', async () => {
    const root = join(repository.folder, 'served');
    mkdirSync(root);
    const { dev, ino } = statSync(root);
    mkdirSync(join(state(), 'roots', `${dev}-${ino}`), { recursive: true });
    writeFileSync(join(state(), 'roots', `${dev}-${ino}`, 'releases'), '');
    writeFileSync(join(state(), 'worker.token'), `${'x'.repeat(32)}\n`, { mode: 0o600 });
    const access = ['--bridge', 'http://127.0.0.1:1', '--token-file', join(state(), 'worker.token')];
    const ended = await Cli.run(['worker', '--root', root, '--allow-root', '--state', state(), ...access]);
    expect(ended).toMatchObject({ status: 1, stderr: expect.stringContaining('releases') as string });
  });
});
