import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeCertificate } from './rig/certificate.js';
import { Cli } from './rig/cli.js';
import { newMarker, untilGone, untilSleeping } from './rig/live-processes.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let environment: Record<string, string>;
let tls: { readonly cert: string; readonly key: string };
const running: Cli[] = [];

beforeEach(async () => {
  repository = Repository.create('a');
  tls = await makeCertificate(repository.folder);
  // The certificate is its own authority, which nothing on this machine knows otherwise.
  environment = { CODELANES_CA_FILE: tls.cert };
});

afterEach(async () => {
  for (const cli of running.splice(0)) await cli.end('SIGKILL');
  repository.remove();
});

const bridgeState = () => join(repository.folder, 'bridge-state');
const workerState = () => join(repository.folder, 'worker-state');

function started(...words: string[]): Cli {
  const cli = Cli.start(words, { environment });
  running.push(cli);
  return cli;
}

async function startBridge(port: number): Promise<{ bridge: Cli; url: string }> {
  const flags = ['--state', bridgeState(), '--paired-only', '--tls-cert', tls.cert, '--tls-key', tls.key];
  const bridge = started('bridge', '--port', String(port), ...flags);
  return { bridge, url: await bridge.said(/https:\/\/127\.0\.0\.1:\d+/) };
}

function asAdmin(url: string, ...words: string[]) {
  const token = join(bridgeState(), 'tokens', 'admin');
  return Cli.run(['bridge', 'pairing', ...words, '--url', url, '--token-file', token], { environment });
}

function exec(url: string, ...command: string[]) {
  const token = join(bridgeState(), 'tokens', 'caller');
  const flags = ['--url', url, '--token-file', token, '--worker', 'laptop', '--worktree', 'a'];
  return Cli.run(['exec', ...flags, '--', ...command], { environment });
}

async function pairedWorker(url: string): Promise<Cli> {
  const { stdout } = await asAdmin(url, 'create', 'laptop');
  const code = /codelanes pair \S+ (\S+)/.exec(stdout)?.[1] ?? '';
  const pair = ['pair', url, code, '--state', workerState()];
  const unknown = await Cli.run(pair);
  expect(unknown.stderr).toContain('Name the authority of its certificate with --ca-file');
  const paired = await Cli.run([...pair, '--ca-file', tls.cert]);
  expect(paired.status).toBe(0);
  expect(paired.stdout).toContain('is the worker laptop');
  const served = ['--root', repository.root, '--linked-worktree-lanes', '--allow-root'];
  // What it was told of the certificate when it was paired is kept with its key.
  environment = {};
  const worker = started('worker', '--worker-id', 'laptop', ...served, '--state', workerState());
  environment = { CODELANES_CA_FILE: tls.cert };
  await worker.said('Worker laptop serves');
  return worker;
}

it('[L19] a machine that was paired over TLS serves, outlives its bridge, and stops when it is revoked', async () => {
  const { bridge, url } = await startBridge(0);
  const worker = await pairedWorker(url);
  expect(statSync(join(workerState(), 'pairings', 'laptop.json')).mode & 0o777).toBe(0o600);
  expect(await exec(url, 'echo', 'hello')).toMatchObject({ status: 0, stdout: 'hello\n' });
  environment = {};
  const unknown = await exec(url, 'echo', 'hello');
  expect(unknown).toMatchObject({ status: 125, stdout: '' });
  expect(unknown.stderr).toContain('is not trusted here');
  environment = { CODELANES_CA_FILE: tls.cert };

  await bridge.end('SIGKILL');
  await startBridge(Number(new URL(url).port));
  // Until the worker has come back, calls are refused as retryable.
  await expect.poll(async () => (await exec(url, 'echo', 'again')).stdout, { interval: 200 }).toBe('again\n');

  const marker = newMarker();
  const running = exec(url, `sleep ${marker}; echo late`);
  await untilSleeping(marker);
  expect((await asAdmin(url, 'revoke', 'laptop')).status).toBe(0);
  await untilGone(marker);
  const told = await running;
  expect(told.status).toBe(123);
  expect(told.stderr).toContain('its worker was revoked');
  expect((await worker.ended).stderr).toContain('does not know the credential of this worker');
  const refused = await exec(url, 'echo', 'never');
  expect(refused).toMatchObject({ status: 125, stdout: '' });
  expect(refused.stderr).toContain('WORKER_OFFLINE');
}, 180_000);

it('a code is of no use twice, nor is a worker without one let in by the token for workers', async () => {
  const { url } = await startBridge(0);
  const { stdout } = await asAdmin(url, 'create', 'laptop', '--tenant', 't1', '--for', 'user:ann');
  const code = /codelanes pair \S+ (\S+)/.exec(stdout)?.[1] ?? '';
  const pair = () => Cli.run(['pair', url, code, '--state', workerState()], { environment });
  expect((await pair()).status).toBe(0);
  const again = await pair();
  expect(again.status).toBe(1);
  expect(again.stderr).toContain('This pairing code was used');
  const flags = ['--root', repository.root, '--allow-root', '--state', bridgeState()];
  const stranger = await Cli.run(['worker', '--worker-id', 'other', '--bridge', url, ...flags], {
    environment,
  });
  expect(stranger.status).toBe(1);
  expect(stranger.stderr).toContain('does not know the bearer token');
}, 120_000);
