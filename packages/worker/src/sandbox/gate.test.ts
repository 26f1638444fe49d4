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

const short = 1024;

it.each([short - 1, short, short + 1, 32 * 1024])(
  'hands a command of %i bytes over as it is',
  async (bytes) => {
    const begin = "printf %s '";
    // Each byte that UTF-8 has, those with which shells mark their own texts among them.
    const every = Array.from({ length: 0x700 }, (_, index) => String.fromCodePoint(0x80 + index)).join('');
    const said = `\n\n${every.repeat(9)}`.slice(0, Math.floor((bytes - begin.length) / 2) - 1);
    const command = `${begin}${said.padEnd(said.length + bytes - Buffer.byteLength(`${begin}${said}'`), '\n')}'`;
    expect(Buffer.byteLength(command)).toBe(bytes);
    expect((await told(runOrder({ command }))).stdout).toBe(command.slice(begin.length, -1));
  },
);

it('runs a command of ten thousand lines', async () => {
  const command = `${':\n'.repeat(10_000)}pwd`;
  expect((await told(runOrder({ command, directory: 'it is' }))).stdout).toBe(`${folder}/it is\n`);
});

it('runs no part of a long command that ends in the middle, wherever that is', async () => {
  const order = runOrder({ command: 'echo ran\n'.repeat(500) });
  const middle = fc.integer({ min: 0, max: order.length - 1 });
  const nearTheEnd = fc.integer({ min: order.length - 40, max: order.length - 1 });
  await fc.assert(
    fc.asyncProperty(fc.oneof(middle, nearTheEnd), async (bytes) => {
      expect(await told(order.slice(0, bytes))).toEqual({ stdout: '', code: refusedExit });
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
  ['another word', 'line 1\n\necho ran\n'],
  ['no folder', 'lines 1\n'],
  ['fewer lines than are announced', 'lines 3\n\necho ran\necho on\n'],
  ['a line that does not end', 'lines 1\n\necho ran'],
])('runs nothing when it is told %s', async (_, order) => {
  expect(await told(order)).toEqual({ stdout: '', code: refusedExit });
});

it.each([{ command: 'echo\0' }, { command: 'pwd', directory: 'a\nb' }])('is not told %j', (order) => {
  expect(() => runOrder(order)).toThrow('cannot be told');
});
