import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EnvironmentSetup } from '../environment/setup.js';
import { makeSampleRepository, type SampleRepository } from '../lanes/testing/sample-repository.js';
import { EnvironmentRun } from '../setup/environment-run.js';
import { closedLanes } from './closed-lanes.js';
import { takeRoot, type ServedRoot } from './served-root.js';

const setup: EnvironmentSetup = { command: 'exit 3', timeoutMs: 1_000 };
let repository: SampleRepository;
let root: ServedRoot;

beforeEach(async () => {
  repository = makeSampleRepository('a');
  root = await takeRoot(
    { id: 'primary', root: repository.root, linkedWorktreeLanes: true, read: [], setup },
    join(repository.folder, 'state'),
  );
});
afterEach(async () => {
  await root.close();
  repository.remove();
});

const since = expect.any(Number) as number;

it('tells of a root that is not offered, since its own setup has failed, and of none that is', async () => {
  const run = await EnvironmentRun.begin(root, setup);
  await run.end({ state: 'failed', reason: 'It ended with status 3.' });
  const roots = [root];
  expect(closedLanes({ roots, offered: [], failedSetups: [] })).toEqual([
    { lane: ['primary'], cause: 'failed_setup', reason: 'It ended with status 3.', since },
  ]);
  expect(closedLanes({ roots, offered: roots, failedSetups: [] })).toEqual([]);
});

it('tells of quarantined lanes and of worktrees whose setup has failed', async () => {
  await root.quarantine.add(['primary', 'worktree:a'], 'Process 7 may still run.', []);
  const failed = { lane: ['primary', 'x'], cause: 'failed_setup', reason: 'It failed.', since: 1 } as const;
  expect(closedLanes({ roots: [root], offered: [root], failedSetups: [failed] })).toEqual([
    { lane: ['primary', 'worktree:a'], cause: 'quarantine', reason: 'Process 7 may still run.', since },
    failed,
  ]);
});
