import { existsSync, writeFileSync } from 'node:fs';
import { executeWorkspaceTool } from '@codelanes/librechat';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { counting } from '../rig/caller.js';
import { EnvironmentDeployment, EnvironmentFolder } from '../rig/environment.js';
import { before, overlap, spanOf, stamped } from '../rig/stamps.js';
import { LibreChatServer } from './librechat-server.js';

const names = ['one', 'two', 'three'] as const;
const command = { protocolVersion: 1, operation: 'execute_command', timeoutMs: 120_000 } as const;
const printedSchema = z.object({ stdout: z.string(), exitCode: z.number() });

interface Target {
  readonly workspaceId: string;
  readonly cwd?: string;
}
type Printed = z.output<typeof printedSchema>;
type Run = (text: string, target: Target) => Promise<Printed>;

/** How a client of each kind sends what an agent asks for: by a path beneath `.worktrees`, which is all it knows. */
const clients: Readonly<Record<string, (deployment: EnvironmentDeployment) => Run>> = {
  'a client that knows lanes': (deployment) => async (text, target) => {
    const { CODELANES_URL = '', CODELANES_TOKEN = '' } = deployment.asCaller;
    const result = await executeWorkspaceTool({
      baseURL: `${CODELANES_URL}/v1`,
      authHeaders: { Authorization: `Bearer ${CODELANES_TOKEN}` },
      linkedWorktrees: true,
      request: { ...command, command: text, ...target },
    });
    return printedSchema.parse(result);
  },
  'a client of generation A, by path': (deployment) => async (text, target) => {
    const { CODELANES_URL = '', CODELANES_TOKEN = '' } = deployment.asCaller;
    const librechat = new LibreChatServer(CODELANES_URL, CODELANES_TOKEN);
    return printedSchema.parse(await librechat.result({ ...command, command: text, ...target }));
  },
};

let environment: EnvironmentFolder;
let deployment: EnvironmentDeployment;

beforeEach(() => {
  environment = new EnvironmentFolder();
  environment.addRepository('app', ...names);
});
afterEach(async () => {
  await deployment.stop();
  environment.remove();
});

async function start(...routing: readonly string[]): Promise<void> {
  environment.define(
    'name: primary',
    `root: ${environment.root}`,
    'linkedWorktreeLanes: true',
    ...routing,
    'repositories:',
    '  - { path: app }',
  );
  deployment = await EnvironmentDeployment.start(environment, {
    slots: 3,
    bridge: { clientGeneration: routing.length === 0 ? 'B' : 'A' },
  });
}

describe('three subagents of one conversation, each in a worktree of its own', () => {
  it.each([
    ['a client that knows lanes', []],
    ['a client of generation A, by path', ['laneRouting: by-path']],
  ] as const)(
    '[L22] run at once, and their coordinator sees what they committed: %s',
    async (client, routing) => {
      await start(...routing);
      const run = clients[client]?.(deployment);
      if (run === undefined) throw new Error('no such client');
      const workspaceId = 'primary:app';
      const wait = 'touch begun; until [ -e go ]; do sleep 0.05; done';
      const commit = (name: string) =>
        `echo ${name} > ${name}.txt; git add ${name}.txt; git commit -qm did-${name}`;
      const agents = names.map((name) =>
        run(stamped(`${wait}; ${commit(name)}`), { workspaceId, cwd: `.worktrees/${name}` }),
      );
      await deployment.caller().lanesOnce(counting(3, 0));
      const merge =
        'git merge -q -m gathered lane/one lane/two lane/three; ls; git log --format=%s -n 4 HEAD^@';
      const coordinator = run(stamped(merge), { workspaceId });
      await deployment.caller().lanesOnce(counting(3, 1));
      // A call that counts as running may not have begun yet.
      for (const name of names) {
        const mark = environment.path('app', '.worktrees', name, 'begun');
        await expect.poll(() => existsSync(mark)).toBe(true);
      }
      for (const name of names) writeFileSync(environment.path('app', '.worktrees', name, 'go'), '');
      const did = await Promise.all(agents);
      const gathered = await coordinator;
      expect([...did, gathered].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
      const spans = did.map(spanOf);
      for (const [index, span] of spans.entries()) {
        for (const other of spans.slice(index + 1)) expect(overlap(span, other)).toBe(true);
        expect(before(span, spanOf(gathered))).toBe(true);
      }
      for (const name of names) expect(gathered.stdout).toContain(`${name}.txt\n`);
      for (const name of names) expect(gathered.stdout).toContain(`did-${name}\n`);
    },
    240_000,
  );
});
