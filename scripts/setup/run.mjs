import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The environment of every tool that we start: no tool reports home.
 *
 * @type {NodeJS.ProcessEnv}
 */
export const toolEnvironment = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };

/**
 * Runs a program to its end and shows what it wrote only where it fails.
 *
 * @param {string} title What it does, for the message.
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {boolean} Whether it ended with status 0.
 */
export function runQuietly(title, program, args) {
  const { isGood, complain } = runUnseen(title, program, args);
  if (!isGood) complain();
  return isGood;
}

/**
 * Runs a program to its end and shows nothing.
 *
 * @param {string} title What it does, for the message.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {Record<string, string>} [extra] Further variables of its environment.
 * @returns {{ isGood: boolean, complain: () => void }} Whether it ended with status 0; and what says of it that it
 * failed, with all that it wrote.
 */
export function runUnseen(title, program, args, extra = {}) {
  const ended = spawnSync(program, args, {
    cwd: repositoryRoot,
    env: { ...toolEnvironment, ...extra },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const complain = () => {
    console.error(ended.stdout ?? '');
    console.error(ended.stderr ?? '');
    const why = ended.error?.message ?? `status ${ended.status ?? ended.signal}`;
    console.error(`${title} failed (${why}): ${[program, ...args].join(' ')}`);
  };
  return { isGood: ended.status === 0, complain };
}

/**
 * Runs a program to its end, with its output in sight; others may run meanwhile.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {Record<string, string>} [extra] Further variables of its environment.
 * @returns {Promise<boolean>} Whether it ended with status 0.
 */
export function runInSight(program, args, extra = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: repositoryRoot,
      env: { ...toolEnvironment, ...extra },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.once('error', (error) => {
      console.error(`${program} could not be started: ${error.message}`);
      resolve(false);
    });
    child.once('close', (status) => resolve(status === 0));
  });
}
