import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CodelanesError } from '@codelanes/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TemporaryLane, type ToolFields } from './testing/temporary-lane.js';

/** Exchanges two names for ever; Perl, as Node and shells have no renameat2. */
const exchange = `
  my $nr = (POSIX::uname())[4] eq 'aarch64' ? 276 : 316;
  print "on\\n";
  while (1) { syscall($nr, -100, $ARGV[0], -100, $ARGV[1], 2) }
`;

let lane: TemporaryLane;
let swapper: ChildProcess;

beforeEach(async () => {
  lane = new TemporaryLane({ 'dir/inside': 'needle inside', 'dir/sub/inside': 'needle inside' });
  mkdirSync(join(lane.folder, 'outside/sub'), { recursive: true });
  for (const name of ['secret', 'inside', 'sub/secret']) {
    writeFileSync(join(lane.folder, 'outside', name), 'needle outside');
  }
  symlinkSync('../outside', join(lane.path, 'link'));
  const pair = [join(lane.path, 'dir'), join(lane.path, 'link')];
  swapper = spawn('perl', ['-MPOSIX', '-e', `$| = 1; ${exchange}`, ...pair], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => swapper.stdout?.once('data', resolve));
});
afterEach(async () => {
  const ended = new Promise((resolve) => swapper.once('exit', resolve));
  swapper.kill('SIGKILL');
  await ended;
  lane.remove();
});

async function attempt(fields: ToolFields): Promise<string> {
  try {
    return JSON.stringify(await lane.run(fields));
  } catch (error) {
    if (!CodelanesError.is(error)) throw error;
    return error.code;
  }
}

/** Runs each tool again and again, until each of these words was among the answers: else nothing was attacked. */
async function attack(
  tools: readonly ToolFields[],
  rounds: number,
  words: readonly string[],
): Promise<string[]> {
  const answers: string[] = [];
  const unsaid = new Set(words);
  for (let round = 0; round < rounds || unsaid.size > 0; round += 1) {
    for (const fields of tools) {
      const answer = await attempt(fields);
      answers.push(answer);
      for (const word of unsaid) if (answer.includes(word)) unsaid.delete(word);
    }
  }
  return answers;
}

describe('a folder that is exchanged for a link out of the lane while tools use it', () => {
  it('[T31] never has search or list tell what stands outside', async () => {
    const answers = await attack(
      [
        { operation: 'list_files' },
        { operation: 'list_files', path: 'dir' },
        { operation: 'search_text', query: 'needle' },
        { operation: 'search_text', query: 'needle', path: 'dir' },
      ],
      60,
      ['inside'],
    );
    expect(answers.filter((answer) => /secret|outside/.test(answer))).toEqual([]);
  }, 180_000);

  it('[T31] never has a write, a create or an edit reach outside', async () => {
    const answers = await attack(
      [
        { operation: 'write_file', path: 'dir/inside', content: 'needle written' },
        { operation: 'write_file', path: 'dir/new/deep', content: 'needle written' },
        { operation: 'write_file', path: 'dir/secret2', content: 'x', overwrite: false },
        { operation: 'edit_file', path: 'dir/inside', oldText: 'needle', newText: 'needle' },
        { operation: 'preview_edit', path: 'dir/inside', oldText: 'needle', newText: 'pin' },
      ],
      120,
      ['bytesWritten', 'INVALID_PATH'],
    );
    expect(answers.filter((answer) => answer.includes('outside'))).toEqual([]);
    expect(readdirSync(join(lane.folder, 'outside')).sort()).toEqual(['inside', 'secret', 'sub']);
    expect(readFileSync(join(lane.folder, 'outside/inside'), 'utf8')).toBe('needle outside');
  }, 180_000);
});
