import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AlreadyTold } from '../errors/cli-error.js';
import { ManagedChild } from './managed-child.js';

let folder: string;
let said: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codelanes-child-'));
  said = [];
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function childOf(source: string) {
  const program = join(folder, 'program.mjs');
  await writeFile(program, source);
  return new ManagedChild({
    name: 'bridge',
    args: () => [],
    program,
    say: (line) => {
      said.push(line);
    },
  });
}

const serving = `
  process.on('SIGTERM', () => process.exit(0));
  setInterval(() => {}, 1000);
  process.send({ kind: 'bridge', url: 'http://127.0.0.1:1' });`;

describe('ManagedChild', () => {
  it('starts a process, tells what it announced, and ends it without starting another', async () => {
    const child = await childOf(serving);
    expect(await child.start()).toEqual({ kind: 'bridge', url: 'http://127.0.0.1:1' });
    await child.stop();
    expect(said).toEqual([]);
  });

  it('brings a killed process back, and says both', async () => {
    const child = await childOf(serving);
    await child.start();
    const killed = child.pid ?? 0;
    process.kill(killed, 'SIGKILL');
    await expect.poll(() => said.length).toBe(2);
    expect(said[0]).toContain('SIGKILL');
    expect(said[1]).toContain('is back');
    expect(child.pid).not.toBe(killed);
    await child.stop();
  });

  it('does not start again what ended before it served', async () => {
    const log = join(folder, 'starts');
    const child = await childOf(
      `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(log)}, 'x'); process.exitCode = 1;`,
    );
    // It has said itself what is wrong.
    await expect(child.start()).rejects.toBeInstanceOf(AlreadyTold);
    expect(await readFile(log, 'utf8')).toBe('x');
  });

  it('says how one ended that could say nothing itself', async () => {
    const child = await childOf("process.kill(process.pid, 'SIGKILL');");
    await expect(child.start()).rejects.toThrow('did not start (SIGKILL)');
  });
});
