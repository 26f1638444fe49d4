import { describe, expect, it } from 'vitest';
import { noNetwork } from '../environment/network-policy.js';
import { defaultLimits, writablePaths, type Mount, type Policy } from '../sandbox/policy.js';
import { scriptPolicy } from './script-policy.js';

const folder = { own: '/state/1/own', calls: '/state/1/calls', data: '/state/1/data' };
const programs = { bash: '/bin/bash', jq: '/usr/bin/jq' };
const of = (mounts: readonly Mount[]): Policy => ({
  mounts: [...mounts, { kind: 'sealed', path: '/' }],
  environment: { PATH: '/usr/bin' },
  workingDirectory: '/repo',
  network: noNetwork,
  limits: defaultLimits,
});
const lane = (path: string): Mount => ({ kind: 'writable', path, source: { from: 'path', path } });

describe('the view of a script', () => {
  it('adds its own folders to that of its lane, before that is sealed; only data and calls are writable', () => {
    const policy = scriptPolicy(of([lane('/repo')]), folder, programs);
    expect(writablePaths(policy)).toEqual(['/repo', '/run/codelanes/calls', '/run/codelanes/data']);
    expect(policy.mounts.at(-1)).toEqual({ kind: 'sealed', path: '/' });
    expect(policy.mounts).toContainEqual({
      kind: 'symlink',
      path: '/mnt/data',
      target: '/run/codelanes/data',
    });
  });

  it('names the folder, bash and jq as LibreChat’s workers do, and nothing that is not there', () => {
    expect(scriptPolicy(of([]), folder, programs).environment).toEqual({
      PATH: '/usr/bin',
      LIBRECHAT_CODE_DATA_DIR: '/run/codelanes/data',
      LIBRECHAT_CODE_BASH_PATH: '/bin/bash',
      LIBRECHAT_CODE_JQ_PATH: '/usr/bin/jq',
    });
    const without = scriptPolicy(of([]), folder, { ...programs, jq: undefined });
    expect(Object.keys(without.environment)).not.toContain('LIBRECHAT_CODE_JQ_PATH');
  });

  it.each(['/mnt/data', '/mnt/data/repo', '/mnt'])('leaves %s to the lane or the operator', (path) => {
    const { mounts } = scriptPolicy(of([lane(path)]), folder, programs);
    expect(mounts.filter(({ kind }) => kind === 'symlink')).toEqual([]);
  });
});
