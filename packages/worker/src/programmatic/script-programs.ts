import { execFile } from 'node:child_process';
import { delimiter } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../files/find-program.js';
import type { MachineFacts } from '../sandbox/machine-facts.js';

const run = promisify(execFile);

/** Programs of this machine that scripts are run with; absolute paths, which every sandbox shows. */
export interface ScriptPrograms {
  readonly bash: string;
  readonly mkfifo: string;
  readonly cat: string;
  /** Scripts take results apart with it; they are told where it is if it is there. */
  readonly jq: string | undefined;
}

/** The first bash with numbers that nobody can foresee, by which a script's tool calls are told apart. */
const neededBash: readonly [major: number, minor: number] = [5, 1];
const systemPath = ['/usr/local/bin', '/usr/bin', '/bin'];

/**
 * Looks for what scripts need. `undefined`, with the reason handed to `onMissing`, on a machine that cannot run them.
 */
export async function findScriptPrograms(
  machine: Pick<MachineFacts, 'shell' | 'searchPath'>,
  onMissing: (reason: string) => void,
): Promise<ScriptPrograms | undefined> {
  const searchPath = [...systemPath, ...machine.searchPath].join(delimiter);
  const bash = machine.shell.endsWith('/bash') ? machine.shell : findProgram('bash', searchPath);
  const mkfifo = findProgram('mkfifo', searchPath);
  const cat = findProgram('cat', searchPath);
  if (bash === undefined || mkfifo === undefined || cat === undefined) {
    onMissing('No scripts are run: install bash and coreutils.');
    return undefined;
  }
  const version = await versionOf(bash);
  if (version === undefined || isOlder(version)) {
    onMissing(`No scripts are run: ${bash} is older than ${neededBash.join('.')}.`);
    return undefined;
  }
  return { bash, mkfifo, cat, jq: findProgram('jq', searchPath) };
}

async function versionOf(bash: string): Promise<readonly [number, number] | undefined> {
  const script = 'echo "${BASH_VERSINFO[0]} ${BASH_VERSINFO[1]}"';
  try {
    const { stdout } = await run(bash, ['--norc', '-c', script], { env: {} });
    const [major, minor] = stdout.trim().split(' ').map(Number);
    return major === undefined || minor === undefined ? undefined : [major, minor];
  } catch {
    return undefined;
  }
}

function isOlder([major, minor]: readonly [number, number]): boolean {
  const [neededMajor, neededMinor] = neededBash;
  return major < neededMajor || (major === neededMajor && minor < neededMinor);
}
