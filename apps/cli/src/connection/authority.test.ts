import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readAuthority } from './authority.js';

const [pem = ''] = rootCertificates;
let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codelanes-authority-'));
  file = join(folder, 'ca.pem');
  await writeFile(file, pem);
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

it('is read of the flag, else of the environment; without both this machine decides', async () => {
  expect(await readAuthority(file, { CODELANES_CA_FILE: '/nowhere' })).toBe(pem);
  expect(await readAuthority(undefined, { CODELANES_CA_FILE: file })).toBe(pem);
  expect(await readAuthority(undefined, {})).toBeUndefined();
});

it.each(['', 'no certificate', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'])(
  'is refused where the file holds %j',
  async (text) => {
    await writeFile(file, text);
    await expect(readAuthority(file, {})).rejects.toThrow('holds no certificate');
  },
);

it('is refused where there is no file', async () => {
  await expect(readAuthority(join(folder, 'missing'), {})).rejects.toThrow('holds no certificate');
});
