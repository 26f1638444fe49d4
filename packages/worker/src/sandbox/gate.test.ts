import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { gateProgram, refusedExit, runOrder } from './gate.js';
import { defaultLimits } from './policy.js';

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-gate-')));
  mkdirSync(join(folder, 'it is', 'here'), { recursive: true });
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** What the gate comes to when it is told that and then the line ends. */
async function told(order: string): Promise<{ stdout: string; code: number | null }> {
  const [program = '', ...words] = gateProgram('/bin/sh', defaultLimits);
  const gate = spawn(program, words, { stdio: ['ignore', 'pipe', 'ignore', 'pipe'], cwd: folder, env: {} });
  const [, output, , line] = gate.stdio;
  if (output === null || !(line instanceof Duplex)) throw new Error('The gate has no line.');
  line.on('error', () => undefined);
  line.resume();
  line.end(order);
  const exited = new Promise<number | null>((resolve) => gate.once('exit', resolve));
  return { stdout: await text(output), code: await exited };
}

it('runs a command of several lines as it stands', async () => {
  const command = `echo "one\ntwo"\n\nprintf '%s\\n' 'it'"'"'s $HOME \\' # done\n\n`;
  expect(await told(runOrder({ command }))).toEqual({ stdout: "one\ntwo\nit's $HOME \\\n", code: 0 });
});

it('hands every text over as it is', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 }).filter((each) => !each.includes('\0'));
  await fc.assert(
    fc.asyncProperty(text, async (each) => {
      const command = `cat <<'the end of it'\n${each}\nthe end of it`;
      expect((await told(runOrder({ command }))).stdout).toBe(`${each}\n`);
    }),
    { numRuns: 40 },
  );
});

it('starts a command in the folder that is named', async () => {
  const { stdout } = await told(runOrder({ command: 'pwd', directory: 'it is/here' }));
  expect(stdout).toBe(`${folder}/it is/here\n`);
});

it.each([
  ['a folder that is not there', runOrder({ command: 'echo ran', directory: 'nowhere' })],
  ['the end of the line in place of an order', ''],
  ['another word', 'ran 1\n\necho ran\n'],
  ['no folder', 'run 1\n'],
  ['fewer lines than are announced', 'run 3\n\necho ran\necho on\n'],
  ['a line that does not end', 'run 1\n\necho ran'],
])('runs nothing when it is told %s', async (_, order) => {
  expect(await told(order)).toEqual({ stdout: '', code: refusedExit });
});

it.each([{ command: 'echo\0' }, { command: 'pwd', directory: 'a\nb' }])('is not told %j', (order) => {
  expect(() => runOrder(order)).toThrow('cannot be told');
});
