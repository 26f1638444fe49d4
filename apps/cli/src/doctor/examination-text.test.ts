import type { LaneReport } from '@codelanes/worker';
import { describe, expect, it } from 'vitest';
import { examinationText } from './examination-text.js';

const root: LaneReport = {
  lane: 'primary',
  laneKey: 'primary',
  workspaces: [{ workspaceId: 'primary' }],
  folder: '/home/me/src',
  worktrees: { offered: false, why: 'It is no checkout.' },
  fingerprint: 'f',
  actions: [],
  network: { kind: 'none' },
};
const repository: LaneReport = {
  lane: 'primary/agents',
  laneKey: 'primary/repo%3Aagents',
  workspaces: [{ workspaceId: 'primary:agents' }, { workspaceId: 'primary', repository: 'agents' }],
  folder: '/home/me/src/agents',
  worktrees: { offered: true, verified: ['a', 'b'], refused: [{ name: 'c', message: 'It is forged.' }] },
  fingerprint: 'f',
  slots: 2,
  setup: { when: 'new worktree', timeoutMs: 900_000, idleTimeoutMs: 60_000, copy: ['.env'], reused: false },
  actions: ['test', 'build'],
  network: { kind: 'allowed', domains: [{ host: 'example.org', subdomains: true, ports: [80, 443] }] },
  remote: 'https://example.org/agents',
  credentials: 'github-app',
};

describe('examinationText', () => {
  it('shows what the root and each repository would get, then the machine', () => {
    const text = examinationText({
      ok: true,
      faults: [],
      environments: [{ name: 'primary', file: '/e.yaml', root, repositories: [repository], findings: [] }],
      machine: [{ subject: 'git', verdict: 'ok', sentence: '/usr/bin/git.' }],
    });
    expect(text.split('\n')).toEqual([
      'Environment primary (/e.yaml)',
      '   lane      primary',
      '   workspace primary',
      '   folder    /home/me/src',
      '   worktrees no lanes: It is no checkout.',
      '   commands  as many at once as the worker has slots',
      '   setup     none',
      '   network   none',
      '   remote    none',
      '   secrets   none',
      '   actions   none',
      '',
      'Repository primary/agents',
      '   lane      primary/agents',
      '   workspace primary:agents, or primary with repository agents',
      '   folder    /home/me/src/agents',
      '   worktrees primary/agents/.worktrees/NAME, now a, b',
      '             refused: It is forged.',
      '   commands  2 at once',
      '   setup     once in each new worktree, at most 15 min 0 s and 1 min 0 s of silence, after copying .env',
      '   network   *.example.org:80/443',
      '   remote    https://example.org/agents',
      '   secrets   github-app',
      '   actions   test, build',
      '',
      'This machine',
      'ok git       /usr/bin/git.',
      '',
      'All is in order.',
    ]);
  });

  it('marks faults with where they stand, and what fails', () => {
    const text = examinationText({
      ok: false,
      faults: [{ file: '/e.yaml', line: 3, column: 7, key: 'network', sentence: 'expected none.' }],
      environments: [],
      machine: [
        { subject: 'user', verdict: 'limited', sentence: 'You are root.' },
        { subject: 'sandbox', verdict: 'failed', sentence: 'Install bubblewrap.' },
      ],
    });
    expect(text.split('\n')).toEqual([
      '!! /e.yaml:3:7: network: expected none.',
      '',
      'This machine',
      ' ! user      You are root.',
      '!! sandbox   Install bubblewrap.',
      '',
      'Something is wrong: mend what is marked with "!!", then ask again.',
    ]);
  });
});
