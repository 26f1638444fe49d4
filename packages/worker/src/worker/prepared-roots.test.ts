import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hostProcesses, type ProcessIdentity } from '../lanes/processes.js';
import { PreparationError } from '../preparation/preparation-error.js';
import { findSetup, readSetupLog } from '../setup/listed-setups.js';
import { preparedRoots, type PreparationSetting } from './prepared-roots.js';
import { requestRelease } from './releases.js';
import { takeRoot, type ServedRoot } from './served-root.js';

let folder: string;
const taken: ServedRoot[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-prepared-')));
});
afterEach(async () => {
  for (const root of taken.splice(0)) await root.close();
  rmSync(folder, { recursive: true });
});

async function take(id: string, setup?: ServedRoot['setup']): Promise<ServedRoot> {
  mkdirSync(join(folder, id));
  const request = { id, root: join(folder, id), linkedWorktreeLanes: false, read: [], setup };
  const root = await takeRoot(request, join(folder, 'state'));
  taken.push(root);
  return root;
}

const setup = { command: 'true', timeoutMs: 1_000 };

/** A machine that could wall; that a setup got as far as its wall is what these tests look at. */
const setting = (more: Partial<PreparationSetting> = {}): PreparationSetting => ({
  commands: () => {
    throw new PreparationError('It got to its wall.');
  },
  log: pino({ level: 'silent' }),
  atOnce: 2,
  signal: new AbortController().signal,
  ...more,
});

const identity = (pid: number): ProcessIdentity => {
  const found = hostProcesses.identify(pid);
  if (found === undefined) throw new Error('a process that runs');
  return found;
};

describe('the roots that a worker offers', () => {
  it('are those without a setup, and of the others those whose setup has run', async () => {
    const [plain, failing] = [await take('plain'), await take('failing', setup)];
    expect(await preparedRoots([failing, plain], setting())).toEqual([plain]);
    await expect(preparedRoots([failing], setting())).rejects.toThrow(
      'Workspace "failing" is not served. It got to its wall.',
    );
  });

  it('are none with a setup on a machine that cannot wall it', async () => {
    const root = await take('a', setup);
    const cannot = setting({ commands: undefined });
    await expect(preparedRoots([root], cannot)).rejects.toThrow(/cannot wall its setup/u);
    const plain = await take('b');
    expect(await preparedRoots([plain], cannot)).toEqual([plain]);
  });

  it('are none that is closed: its setup is not begun while something may run there', async () => {
    const root = await take('a', setup);
    await root.quarantine.add(root.lane, 'Something may run there.', [identity(process.pid)]);
    await expect(preparedRoots([root], setting())).rejects.toThrow(
      'Its setup cannot run, as it is closed. Something may run there.',
    );
  });

  it('need no hand to be opened again: a proof heals, and a release that was left is taken', async () => {
    const healed = await take('healed', setup);
    // It bears the number of a process that lives, and is another one.
    const gone = { ...identity(process.pid), startTime: 1 };
    await healed.quarantine.add(healed.lane, 'Something may run there.', [gone]);
    await expect(preparedRoots([healed], setting())).rejects.toThrow('It got to its wall.');

    const released = await take('released', setup);
    await released.quarantine.add(released.lane, 'Something may run there.', []);
    expect(await requestRelease(join(folder, 'state'), released.lane)).toBe(true);
    await expect(preparedRoots([released], setting())).rejects.toThrow('It got to its wall.');
    expect(released.quarantine.list()).toEqual([]);
  });

  it('leave behind what came of each setup, for those who ask later', async () => {
    const failing = await take('failing', setup);
    await expect(preparedRoots([failing], setting())).rejects.toThrow('It got to its wall.');
    const found = findSetup(join(folder, 'state'), ['failing']);
    expect(found).toMatchObject({ record: { state: 'failed', reason: 'It got to its wall.' } });
    expect(found?.retry).toBeUndefined();
    expect(found === undefined ? '' : readSetupLog(found)).toBe('codelanes: It got to its wall.\n');
  });

  it('are not waited for when the worker is stopped', async () => {
    const root = await take('a', setup);
    const stopped = new AbortController();
    stopped.abort();
    await expect(preparedRoots([root], setting({ signal: stopped.signal }))).rejects.toThrow(
      'The worker was stopped before it had registered.',
    );
  });
});
