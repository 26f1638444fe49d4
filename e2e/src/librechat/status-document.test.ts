import { fetchWorkerStatus, resolveWorkspace } from '@codelanes/librechat';
import type { BridgeOptions } from '@codelanes/bridge';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EnvironmentDeployment, EnvironmentFolder } from '../rig/environment.js';
import type { Answer } from '../rig/caller.js';
import { statusOfGenerationA, statusOfGenerationB } from './status-rules.js';

const path = '/v1/bridge/workers/w1/status';
const asLibreChat = { headers: { 'x-codelanes-client': '0' } };

let environment: EnvironmentFolder;

beforeAll(() => {
  environment = new EnvironmentFolder();
  environment.addRepository('.', 'a');
  environment.addRepository('services/api', 'a');
  environment.addRepository('web');
  environment.define(
    'name: primary',
    `root: ${environment.root}`,
    'repo: codelanes/example',
    'ref: main',
    'linkedWorktreeLanes: true',
    'actions:',
    '  - { name: test, command: "true" }',
    'repositories:',
    '  - { path: services/api, slots: 1 }',
    '  - { path: web }',
  );
});
afterAll(() => {
  environment.remove();
});

async function withDeployment(
  bridge: Partial<BridgeOptions>,
  run: (deployment: EnvironmentDeployment) => Promise<void>,
): Promise<void> {
  const deployment = await EnvironmentDeployment.start(environment, { slots: 1, bridge });
  try {
    await run(deployment);
  } finally {
    await deployment.stop();
  }
}

const ask = (deployment: EnvironmentDeployment): Promise<Answer> =>
  deployment.caller().send('GET', path, undefined, asLibreChat);

async function expectOfflineIn(
  deployment: EnvironmentDeployment,
  schema: typeof statusOfGenerationA | typeof statusOfGenerationB,
): Promise<void> {
  await deployment.killWorker();
  await expect
    .poll(async () => schema.parse((await ask(deployment)).json).online, { interval: 50 })
    .toBe(false);
}

/** A worker that says nothing for that long counts as gone. */
const quick = { scheduler: { leaseTtlMs: 10_000 } };

describe('the status of a real worker with repositories, lanes and actions', () => {
  it('[L27] is read by generation A, by what LibreChat publishes, online and offline', async () => {
    await withDeployment(quick, async (deployment) => {
      const status = statusOfGenerationA.parse((await ask(deployment)).json);
      if (!status.online) throw new Error('expected it online');
      expect(status.capabilities.workspaceTools.workspaces.map(({ id }) => id)).toEqual([
        'primary',
        'primary:services.api',
        'primary:web',
      ]);
      await expectOfflineIn(deployment, statusOfGenerationA);
    });
  });

  it('[L3] is read by generation B, which is shown worktrees and nothing of repositories', async () => {
    await withDeployment({ ...quick, clientGeneration: 'B' }, async (deployment) => {
      const { json } = await ask(deployment);
      const status = statusOfGenerationB.parse(json);
      if (!status.online) throw new Error('expected it online');
      const { workspaces } = status.capabilities.workspaceTools;
      expect(workspaces.map(({ id, workspaceScopes }) => [id, workspaceScopes])).toEqual([
        ['primary', ['git_linked_worktree']],
        ['primary:services.api', ['git_linked_worktree']],
        ['primary:web', ['git_linked_worktree']],
      ]);
      expect(statusOfGenerationA.safeParse(json).success).toBe(false);
      await expectOfflineIn(deployment, statusOfGenerationB);
    });
  });

  it('shows our own clients the repositories, from which they resolve lanes', async () => {
    await withDeployment({}, async (deployment) => {
      const { CODELANES_URL: url = '', CODELANES_TOKEN: token = '' } = deployment.asCaller;
      const status = await fetchWorkerStatus({ baseURL: `${url}/v1`, token, workerId: 'w1' });
      const selection = { environmentId: 'env', workspaceId: 'primary' };
      expect(resolveWorkspace({ status, selection })).toMatchObject({
        routing: {
          kind: 'lanes',
          lanes: { repositories: ['services/api', 'web'], worktrees: ['', 'services/api', 'web'] },
        },
        environment: { repo: 'codelanes/example', actions: ['test'] },
      });
      const alias = resolveWorkspace({
        status,
        selection: { ...selection, workspaceId: 'primary:services.api' },
      });
      expect(alias.routing).toEqual({ kind: 'lanes', lanes: { repositories: [], worktrees: [''] } });
    });
  });
});
