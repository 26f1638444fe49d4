import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Cli } from './rig/cli.js';
import { EnvironmentDeployment, EnvironmentFolder } from './rig/environment.js';
import { fencedBlocks } from './rig/fenced-blocks.js';

const page = fileURLToPath(new URL('../../docs/environments.md', import.meta.url));

let environment: EnvironmentFolder;
let deployment: EnvironmentDeployment;

beforeEach(async () => {
  environment = new EnvironmentFolder();
  deployment = await EnvironmentDeployment.start(environment, { slots: 0 });
});
afterEach(async () => {
  await deployment.stop();
  environment.remove();
});

describe('the definition with which docs/environments.md begins', () => {
  it('pleases doctor and is served as it stands, with another folder for the root', async () => {
    const [first] = fencedBlocks(readFileSync(page, 'utf8'));
    const text = first?.text ?? '';
    expect(text).toContain('root: /home/me/src');
    environment.addRepository('LibreChat', 'fix-login');
    environment.addRepository('agents');
    environment.define(text.replace('/home/me/src', environment.root));

    const doctor = await Cli.run(['doctor', environment.file]);
    expect(doctor.stdout).toContain('Repository primary/LibreChat');
    expect([doctor.status, doctor.stdout.includes('!! ')]).toEqual([0, false]);

    const worker = deployment.beginWorker(2);
    await worker.said('Worker w1 serves');
    expect(worker.stderr).toBe('');
    for (const repository of ['LibreChat', 'agents']) {
      const { stdout } = await deployment.caller().run('cat name.txt', undefined, { more: { repository } });
      expect(stdout).toBe(`${repository}\n`);
    }
  });
});

describe('credentials in a definition', () => {
  it('are checked, and until they are used doctor and the worker say so; the repository is served', async () => {
    environment.addRepository('api');
    environment.define(
      'name: primary',
      `root: ${environment.root}`,
      'repositories:',
      '  - path: api',
      '    remote: https://example.org/o/n',
      '    credentials: { kind: command, command: "echo secret-of-the-operator" }',
    );
    const said = `${environment.file}:6:5: repositories.0.credentials: checked, but not used yet by this version`;
    const doctor = await Cli.run(['doctor', environment.file]);
    expect(doctor.status).toBe(0);
    expect(doctor.stdout).toContain(` ! keys      ${said}`);
    const worker = deployment.beginWorker(2);
    await worker.said('Worker w1 serves');
    expect(worker.stderr).toContain(said);
    const helper = 'git config --get-all credential.helper; env | grep secret-of; cat name.txt';
    const { stdout } = await deployment.caller().run(helper, undefined, { more: { repository: 'api' } });
    expect(stdout).toBe('api\n');
  });

  it('that are wrong are refused all the same', async () => {
    environment.addRepository('api');
    environment.define(
      'name: primary',
      `root: ${environment.root}`,
      'repositories: [{ path: api, credentials: { kind: token-file, path: token } }]',
    );
    const { status, stderr } = await deployment.beginWorker(2).ended;
    expect(status).not.toBe(0);
    expect(stderr).toContain(
      'repositories.0.credentials.path: expected the file with the token as an absolute path',
    );
  });
});
