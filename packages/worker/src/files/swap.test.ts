import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Directory } from './directory.js';
import { readFile } from './read.js';
import { FileRefusal } from './refusal.js';
import { writeAtomically } from './write.js';

/** Exchanges each two names for ever; Perl, as Node and shells have no renameat2. */
const exchange = `
  my $nr = (POSIX::uname())[4] eq 'aarch64' ? 276 : 316;
  print "on\\n";
  while (1) { for (my $i = 0; $i < @ARGV; $i += 2) { syscall($nr, -100, $ARGV[$i], -100, $ARGV[$i + 1], 2) } }
`;

let folder: string;
let swapper: ChildProcess;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-swap-'));
  const lane = join(folder, 'lane');
  mkdirSync(join(lane, 'dir'), { recursive: true });
  mkdirSync(join(folder, 'outside'));
  writeFileSync(join(lane, 'dir/f'), 'inside');
  writeFileSync(join(lane, 'file'), 'inside');
  writeFileSync(join(folder, 'outside/f'), 'outside');
  symlinkSync(join(folder, 'outside'), join(lane, 'dir-link'));
  symlinkSync('../outside/f', join(lane, 'file-link'));
  const pairs = ['dir', 'dir-link', 'file', 'file-link'].map((name) => join(lane, name));
  swapper = spawn('perl', ['-MPOSIX', '-e', `$| = 1; ${exchange}`, ...pairs], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => swapper.stdout?.once('data', resolve));
});
afterEach(async () => {
  const ended = new Promise((resolve) => swapper.once('exit', resolve));
  swapper.kill('SIGKILL');
  await ended;
  rmSync(folder, { recursive: true });
});

describe('names that are exchanged for links while tools use them', () => {
  it('[T31] [S4: TOCTOU] never lead a read or a write out of the lane', async () => {
    const lane = Directory.open(join(folder, 'lane'));
    const seen = { inside: 0, refused: 0 };
    const end = Date.now() + 2500;
    try {
      // Without both the loop attacked nothing.
      while (Date.now() < end || seen.inside < 50 || seen.refused < 50) {
        for (const path of ['dir/f', 'file', 'dir-link/f', 'file-link']) {
          try {
            const { bytes } = await readFile(lane, path, { maxBytes: 100 });
            expect(['inside', 'rewritten']).toContain(bytes.toString());
            await writeAtomically(lane, path, Buffer.from('rewritten'), { create: 'either' });
            seen.inside += 1;
          } catch (error) {
            if (!(error instanceof FileRefusal)) throw error;
            seen.refused += 1;
          }
        }
      }
    } finally {
      lane.close();
    }
    expect(readFileSync(join(folder, 'outside/f'), 'utf8')).toBe('outside');
    expect(readdirSync(join(folder, 'outside'))).toEqual(['f']);
    const left = execFileSync('find', [folder, '-name', '*.tmp'], { encoding: 'utf8' });
    expect(left).toBe('');
  }, 180_000);
});
