import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { thisMachine } from '../report/machine.js';
import { findingsSchema, soakFile, type SoakResult } from './soak-result.js';

/** What runs for minutes rather than seconds, with the programs that tests run for seconds. */
const soaks = {
  faults: {
    what:
      'Three bridge processes on one Redis, two workers, 40 lanes, 20,000 calls of which a fifth are durable, spread at ' +
      'random over the bridges. Meanwhile bridges are killed, workers cut off and stopped past their lease, Redis ' +
      'killed, restored from a copy two seconds old, and made to forget its scripts, again and again.',
    program: fileURLToPath(new URL('../../../e2e/dist/faults/main.js', import.meta.url)),
    args: ['--calls', '20000', '--bridges', '3'],
  },
} as const;

export const soakNames: readonly string[] = Object.keys(soaks);

/** Runs a soak to its end and writes what it found to `results/`. @returns the exit status: 0 where nothing is wrong */
export async function soak(name: string, folder: string): Promise<number> {
  if (name !== 'faults') return 2;
  const { what, program, args } = soaks[name];
  console.error(`${name}: ${what}`);
  const findings = findingsSchema.parse(JSON.parse(await outputOf(program, args)));
  const date = new Date().toISOString().slice(0, 10);
  const result: SoakResult = { soak: name, what, findings, machine: thisMachine(), date };
  writeFileSync(join(folder, soakFile(name)), `${JSON.stringify(result, null, 2)}\n`);
  console.log(JSON.stringify(findings, null, 2));
  return findings.violations.length === 0 ? 0 : 1;
}

/** Its exit status says what its output says; what it reports on its way is passed on. */
function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [program, ...args], (error, stdout) => {
      if (stdout === '') reject(error ?? new Error('the soak said nothing'));
      else resolve(stdout);
    });
    child.stderr?.pipe(process.stderr);
  });
}
