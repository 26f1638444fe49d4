import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Assignment, Pause, Settlement } from '@codelanes/protocol';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import type { ToConnection } from '../connection/messages.js';
import { noNetwork } from '../environment/network-policy.js';
import { findScriptPrograms } from '../programmatic/script-programs.js';
import { CallDesk } from './call-desk.js';
import { takeRoot, type ServedRoot } from './served-root.js';

let fixture: LaneFixture;
let root: ServedRoot;
let said: ToConnection[];
let desk: CallDesk;

beforeEach(async () => {
  fixture = new LaneFixture(['a', 'b']);
  said = [];
  const request = { id: 'primary', root: fixture.root, linkedWorktreeLanes: true, read: [] };
  root = await takeRoot(request, fixture.state);
  const { machine, shared } = fixture;
  const networkHost = {
    listenerProgram: [],
    open: () => Promise.reject(new Error('Nothing here has a network.')),
  };
  const clocks = { killGraceMs: 50, goneWithinMs: 50_000 };
  desk = new CallDesk({
    roots: [root],
    slots: 2,
    connection: { send: (message) => said.push(message) },
    log: pino({ level: 'silent' }),
    commands: () => ({ machine, shared, network: noNetwork, networkHost, caches: [], ...clocks }),
    scripts: { programs: await findScriptPrograms(machine, () => undefined) },
    ripgrep: undefined,
  });
});
afterEach(async () => {
  desk.stopAll();
  await desk.drain();
  await root.close();
  // Old homes are removed in the background.
  await vi.waitUntil(() => !homes().some((name) => name.startsWith('removed-')), { timeout: 20_000 });
  fixture.remove();
});

let next = 0;
const newId = () => (next++).toString(16).padStart(32, '0');

async function settled(
  request: Assignment['request'],
  callId = newId(),
): Promise<{ callId: string; settlement: Settlement | Pause }> {
  const lease = { callId, generation: 1, token: (next++).toString(16).padStart(64, '0') };
  // What the wire says that it occupies is not relied on.
  desk.take({ ...lease, lane: ['x'], mode: 'shared', pool: 'file', executionMs: 60_000, request });
  const found = () =>
    said.flatMap((message) =>
      message.kind === 'settle' && message.lease.token === lease.token ? [message.settlement] : [],
    );
  await expect.poll(found, { timeout: 20_000 }).toHaveLength(1);
  const [settlement] = found();
  if (settlement === undefined) throw new Error('It was settled.');
  return { callId, settlement };
}

const lane = (worktree?: string) => ({
  protocolVersion: 1 as const,
  workspaceId: 'primary',
  ...(worktree === undefined ? {} : { worktree }),
});

/** Runs a command in a worktree, or at the checkout; resolves with what it wrote. */
async function outputOf(command: string, worktree?: string): Promise<string> {
  const { settlement } = await settled({ ...lane(worktree), operation: 'execute_command', command });
  if (settlement.status !== 'fulfilled' || !('stdout' in settlement.result)) {
    throw new Error(`It has no output: ${JSON.stringify(settlement)}`);
  }
  return settlement.result.stdout;
}

const anew = 'git worktree remove --force .worktrees/a && git worktree add -q .worktrees/a lane/a';
const homes = () => readdirSync(join(fixture.state, 'homes'));

it('a worktree that is made anew under its name finds nothing that commands of the one before left', async () => {
  const plant =
    'echo "echo planted" | tee ~/.bashrc ~/.bash_profile ~/.profile; mkdir -p ~/.cache/x; ls -A ~';
  await outputOf(plant, 'a');
  await outputOf('touch ~/of-b', 'b');
  expect(await outputOf('bash -lc :; ls -A ~', 'a')).toContain('planted\n');
  const before = homes();
  await outputOf(anew);
  expect(await outputOf('bash -lc :; bash -ic : 2>/dev/null; ls -A ~', 'a')).toBe('');
  await expect.poll(homes, { timeout: 20_000 }).toHaveLength(before.length + 1);
  expect(await outputOf('ls -A ~', 'b')).toBe('of-b\n');
  await outputOf('touch ~/new', 'a');
  expect(await outputOf('ls -A ~', 'a')).toBe('new\n');
});

it('nor does a script in it, and one that waits since before the change takes nothing from the new one', async () => {
  const tools = [{ name: 'ask' }];
  const start = { operation: 'run_script' as const, tools };
  const { callId, settlement } = await settled({ ...lane('a'), ...start, code: 'touch ~/old; ask' });
  expect(settlement.status).toBe('paused');
  fixture.host(anew);
  const fresh = await settled({ ...lane('a'), ...start, code: 'ls -A ~; touch ~/new' });
  expect(fresh.settlement).toMatchObject({ result: { stdout: '' } });
  const results = [{ callId: 'call_001', result: '' }];
  const resumed = await settled({ ...lane('a'), operation: 'resume_script', results }, callId);
  expect(resumed.settlement).toMatchObject({ status: 'rejected' });
  expect(await outputOf('ls -A ~', 'a')).toBe('new\n');
});
