import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ending } from '../commands/running-command.js';
import { environmentSetupSchema } from '../environment/setup.js';
import { Directory } from '../files/directory.js';
import { PreparationError } from './preparation-error.js';
import { prepare, type Preparation, type Step, type StepEnd } from './prepare.js';

let folder: string;
let top: Directory;
const notes: string[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-preparation-')));
  mkdirSync(join(folder, 'root'));
  writeFileSync(join(folder, 'root/lock'), 'one');
  top = Directory.open(join(folder, 'root'));
  notes.length = 0;
});
afterEach(() => {
  top.close();
  rmSync(folder, { recursive: true });
});

const at = (path: string) => join(folder, path);
const receipt = () => at('state/receipt.json');
/** What the setup leaves behind: a line for each run of it, and what the check looks for. */
const runs = () => (existsSync(at('root/runs')) ? readFileSync(at('root/runs'), 'utf8').length : 0);

/** As the shell of a sandbox runs it, but for the wall. */
function shell({ command, timeoutMs }: Step): Promise<StepEnd> {
  return new Promise((resolve) => {
    const child = execFile('/bin/bash', ['-c', command], { cwd: at('root'), timeout: timeoutMs }, () => {
      const { exitCode, killed } = child;
      const ending: Ending = killed ? { kind: 'timed_out' } : { kind: 'exited', code: exitCode ?? 1 };
      resolve({ ending, output: '' });
    });
  });
}

interface Change {
  readonly reuse?: object | undefined;
  readonly command?: string;
  readonly context?: unknown;
  readonly run?: Preparation['run'];
}

const reuse = { inputs: ['lock'], checkCommand: 'test -d made' };

/** One start of a worker: nothing is kept in memory from the one before. */
const start = ({
  command = 'printf . >> runs; mkdir -p made',
  context = {},
  run = shell,
  ...more
}: Change = {}) =>
  prepare({
    top,
    setup: environmentSetupSchema.parse({ command, reuse: 'reuse' in more ? more.reuse : reuse }),
    context,
    folder: at('state'),
    run,
    signal: new AbortController().signal,
    note: (sentence) => notes.push(sentence),
  });

const failure = async (change: Change): Promise<string> => {
  const error: unknown = await start(change).catch((caught: unknown) => caught);
  if (error instanceof PreparationError) return error.message;
  throw new Error(`expected a failure, got ${String(error)}`);
};

describe('the setup of an environment', () => {
  it('[P1] is run once while nothing changes; later starts only check', async () => {
    const commands: string[] = [];
    const run = (step: Step) => {
      commands.push(step.command);
      return shell(step);
    };
    expect(await start()).toBe('prepared');
    expect(await start({ run })).toBe('reused');
    expect(commands).toEqual([reuse.checkCommand]);
    expect(runs()).toBe(1);
  });

  it.each<[string, () => Change]>([
    ['an input', () => (writeFileSync(at('root/lock'), 'two'), {})],
    ['the recipe', () => ({ command: 'printf . >> runs; mkdir -p made # other' })],
    ['the time of the check', () => ({ reuse: { ...reuse, checkTimeoutMs: 20_000 } })],
    ['policy or tool chains', () => ({ context: { network: 'public' } })],
  ])('[P2] is run again where %s has changed', async (_, change) => {
    await start();
    expect(await start(change())).toBe('prepared');
    expect(runs()).toBe(2);
  });

  it('[P2] is run again in another folder, although all in it is the same', async () => {
    await start();
    top.close();
    renameSync(at('root'), at('other'));
    mkdirSync(at('root/made'), { recursive: true });
    writeFileSync(at('root/lock'), 'one');
    top = Directory.open(at('root'));
    expect(await start()).toBe('prepared');
  });

  it('[P3] is run again where what it made is gone, and a failed one is not stamped', async () => {
    await start();
    rmSync(at('root/made'), { recursive: true });
    expect(await start()).toBe('prepared');
    rmSync(receipt());
    expect(await failure({ command: 'printf . >> runs; exit 3' })).toContain('ended with status 3');
    expect(existsSync(receipt())).toBe(false);
    expect(await start()).toBe('prepared');
  });

  it('[P3] fails where its own check does not hold right after it', async () => {
    expect(await failure({ command: 'true' })).toContain('right after the setup');
    expect(existsSync(receipt())).toBe(false);
  });

  it('[P4] is not run instead of a check that takes too long or is stopped: that is a failure', async () => {
    await start();
    const ending = (kind: 'timed_out' | 'cancelled') => () =>
      Promise.resolve({ ending: { kind }, output: '' });
    expect(await failure({ run: ending('timed_out') })).toContain(
      'The check of its setup took longer than 10000 ms',
    );
    expect(await failure({ run: ending('cancelled') })).toContain('stopped with the worker');
    expect(runs()).toBe(1);
  });

  it.each([
    ['its setup', { command: 'printf x >> lock; mkdir made' }],
    ['the check of its setup', { reuse: { ...reuse, checkCommand: 'printf x >> lock' } }],
  ])('[P5] is not stamped where inputs change during %s', async (during, change) => {
    expect(await failure(change)).toContain(`changed during ${during}`);
    expect(existsSync(receipt())).toBe(false);
  });

  it('[P5] is run again where an input changes during the check that would spare it', async () => {
    await start();
    let first = true;
    const run = async (step: Step) => {
      if (first) writeFileSync(at('root/lock'), 'two');
      first = false;
      return shell(step);
    };
    // The key of this start is that of the old inputs, so what the setup makes now is stamped by none.
    expect(await failure({ run })).toContain('changed during its setup');
    expect(await start()).toBe('prepared');
  });

  it.each<[string, () => unknown, RegExp]>([
    ['is missing', () => undefined, /"input" of its setup.*does not exist/u],
    [
      'is a link',
      () => {
        symlinkSync('lock', at('root/input'));
      },
      /symbolic link/u,
    ],
    [
      'lies behind a link',
      () => {
        symlinkSync('.', at('root/input'));
      },
      /symbolic link/u,
    ],
    [
      'is a folder',
      () => {
        mkdirSync(at('root/input'));
      },
      /directory/u,
    ],
    [
      'is too large',
      () => {
        writeFileSync(at('root/input'), Buffer.alloc(8 * 1024 ** 2 + 1));
      },
      /more than 8388608 bytes/u,
    ],
  ])('[P6] fails where an input %s', async (what, make, sentence) => {
    make();
    const input = what === 'lies behind a link' ? 'input/lock' : 'input';
    const message = await failure({ reuse: { ...reuse, inputs: [input] } });
    expect(message).toMatch(what === 'lies behind a link' ? /input\/lock.*symbolic link/u : sentence);
    expect(runs()).toBe(0);
  });

  it('[P6] hashes no more than 32 MiB of inputs together', async () => {
    const inputs = ['a', 'b', 'c', 'd', 'e'];
    for (const name of inputs) writeFileSync(at(`root/${name}`), Buffer.alloc(7 * 1024 ** 2));
    expect(await failure({ reuse: { ...reuse, inputs } })).toContain('"e" of its setup');
  });

  it('[P7] is run at every start where nothing says when it is good enough', async () => {
    for (let starts = 0; starts < 3; starts += 1) expect(await start({ reuse: undefined })).toBe('prepared');
    expect(runs()).toBe(3);
    expect(existsSync(receipt())).toBe(false);
  });

  it('[P8] takes a receipt of something else, or one that it cannot read, for none', async () => {
    await start();
    for (const text of [`{"version":1,"key":"${'a'.repeat(64)}"}`, '{"version":2}', 'not JSON']) {
      writeFileSync(receipt(), text);
      expect(await start()).toBe('prepared');
    }
  });

  it.each<[string, () => unknown]>([
    [
      'is open to others',
      () => {
        chmodSync(receipt(), 0o640);
      },
    ],
    [
      'has a second name',
      () => {
        linkSync(receipt(), at('second'));
      },
    ],
    [
      'is a link',
      () => {
        renameSync(receipt(), at('real'));
        symlinkSync(at('real'), receipt());
      },
    ],
  ])('[P8] fails with a receipt that %s, which others may have written', async (_, expose) => {
    await start();
    expose();
    expect(await failure({})).toContain('others may have written it');
    expect(runs()).toBe(1);
  });

  it('[P10] takes a command that its shell cannot read for a check that does not hold', async () => {
    await start();
    expect(await failure({ reuse: { ...reuse, checkCommand: 'if' } })).toContain('right after the setup');
    expect(existsSync(receipt())).toBe(true);
    // What was stamped before is another recipe's.
    expect(await start()).toBe('reused');
  });

  it('[P11] keeps its receipt to this user alone', async () => {
    await start();
    expect(statSync(receipt()).mode & 0o777).toBe(0o600);
    expect(statSync(at('state')).mode & 0o777).toBe(0o700);
  });
});
