import { execFile, execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startBridge, type Bridge } from './bridge.js';
import { renewTls } from './renewed-tls.js';
import { testTokens } from './testing/test-bridge.js';

let folder: string;
let bridge: Bridge | undefined;
const lines: string[] = [];

const at = (name: string) => join(folder, name);

async function makeCertificate(name: string): Promise<string> {
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'],
    ...['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`)],
  ]);
  return new X509Certificate(await readFile(at(`${name}.pem`))).fingerprint256;
}

/** As whoever renews certificates does it: no reader ever sees half a file. */
async function exchange(present: string, next: string): Promise<void> {
  await copyFile(at(next), at(`${present}.next`));
  await rename(at(`${present}.next`), at(present));
}

async function connected(): Promise<TLSSocket> {
  // Which certificate it shows is what is asked, not whether it is trusted.
  const socket = connect({ port: bridge?.port ?? 0, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return socket;
}

async function shown(): Promise<string> {
  const socket = await connected();
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

beforeEach(async () => {
  lines.length = 0;
  folder = await mkdtemp(join(tmpdir(), 'codelanes-tls-'));
});

afterEach(async () => {
  await bridge?.close();
  bridge = undefined;
  await rm(folder, { recursive: true });
});

it('a certificate that was renewed is served without a restart, once its key has come too', async () => {
  const [old, renewed] = [await makeCertificate('old'), await makeCertificate('new')];
  await copyFile(at('old.pem'), at('cert.pem'));
  await copyFile(at('old.key'), at('key.pem'));
  const { caller, admin } = testTokens;
  bridge = await startBridge(
    {
      port: 0,
      tokens: { callers: [caller], admin },
      tls: { cert: at('cert.pem'), key: at('key.pem'), checkEveryMs: 20 },
      drainMs: 0,
    },
    pino({ level: 'info' }, { write: (line) => void lines.push(line) }),
  );
  const told = (text: string) => lines.filter((line) => line.includes(text)).length;
  expect(await shown()).toBe(old);
  const open = await connected();

  await exchange('cert.pem', 'new.pem');
  await expect.poll(() => told('cannot be used'), { timeout: 20_000 }).toBe(1);
  expect(await shown()).toBe(old);

  await exchange('key.pem', 'new.key');
  await expect.poll(shown, { timeout: 20_000 }).toBe(renewed);
  expect(told('the certificate was renewed')).toBe(1);
  expect(told('cannot be used')).toBe(1);
  // Connections that were open go on.
  open.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  const answered: unknown[] = await once(open, 'data');
  expect(String(answered[0])).toContain('200 OK');
  open.destroy();
});

it('a certificate is read by one look at a time, however long its file takes', async () => {
  await makeCertificate('new');
  execFileSync('mkfifo', [at('slow.pem')]);
  const [cert, key] = ['new.pem', 'new.key'].map((name) => readFileSync(at(name), 'utf8'));
  const seen: unknown[] = [];
  const stop = renewTls({
    files: { cert: at('slow.pem'), key: at('new.key'), checkEveryMs: 1 },
    present: { cert: '', key: '' },
    onRenewed: (keys) => {
      stop();
      seen.push(keys);
    },
    onFault: (error) => void seen.push(error),
  });
  for (let turn = 0; turn < 20; turn += 1) await delay(2);
  // Whoever reads the pipe alone gets all of it; several would share it.
  writeFileSync(at('slow.pem'), cert ?? '');
  await expect.poll(() => seen).toEqual([{ cert, key }]);
});
