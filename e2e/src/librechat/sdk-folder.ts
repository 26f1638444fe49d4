import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const pinned = fileURLToPath(new URL('../../fixtures/librechat-sdk/', import.meta.url));
const cache = fileURLToPath(new URL('../../../node_modules/.cache/codelanes/', import.meta.url));
const manifests = ['package.json', 'package-lock.json'];

/**
 * A folder with `@librechat/agents` and the `node-fetch` that it needs and does not name, as their lock has them. It is
 * installed once, into a folder of its own, and kept from run to run for as long as the lock stays the same.
 */
export async function sdkFolder(): Promise<string> {
  const digest = createHash('sha256');
  for (const manifest of manifests) digest.update(readFileSync(join(pinned, manifest)));
  const folder = join(cache, `librechat-sdk-${digest.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  // Whoever is first puts it in its place; a run that was cut short leaves nothing there.
  const made = `${folder}.${randomBytes(6).toString('hex')}`;
  mkdirSync(made, { recursive: true });
  for (const manifest of manifests) copyFileSync(join(pinned, manifest), join(made, manifest));
  // The SDK asks for a newer Node than it needs, and for peers that only its own sandbox uses.
  const flags = [
    '--ignore-scripts',
    '--legacy-peer-deps',
    '--no-audit',
    '--no-fund',
    '--engine-strict=false',
  ];
  await run('npm', ['ci', ...flags], { cwd: made });
  try {
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
