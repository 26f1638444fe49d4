import { describe, expect, it } from 'vitest';
import { bwrapArguments } from './bwrap-arguments.js';
import { checkoutPolicy, plainRootPolicy, worktreePolicy, type PolicyFacts } from './lane-policies.js';
import type { MachineFacts } from './machine-facts.js';
import { writablePaths, type Mount, type Policy } from './policy.js';

const machine: MachineFacts = {
  shell: '/bin/bash',
  readableDirectories: ['/usr', '/etc', '/opt', '/run/current-system', '/var/lib/dpkg', '/lib32'],
  links: [{ path: '/bin', target: 'usr/bin' }],
  secretFiles: ['/etc/shadow'],
  secretDirectories: ['/etc/ssh'],
  home: '/home/op',
  toolchains: ['/home/op/.rustup', '/home/op/.cargo/bin'],
  resolverFile: '/run/systemd/resolve/stub-resolv.conf',
  searchPath: ['/home/op/.cargo/bin', '/usr/bin'],
  read: [],
  served: ['/home/op/repo'],
  closed: [],
};
const facts: PolicyFacts = {
  machine,
  folders: {
    state: '/home/op/.state',
    home: '/home/op/.state/homes/1',
    bin: '/home/op/.state/bin',
    gitConfig: '/home/op/.state/gitconfig',
  },
  workingDirectory: '/home/op/repo/.worktrees/a/sub',
};
const lane = {
  kind: 'worktree',
  root: '/home/op/repo',
  lanePath: '/home/op/repo/.worktrees/a',
  commonDir: '/home/op/repo/.git',
  metadataDir: '/home/op/repo/.git/worktrees/a1',
  alternates: ['/srv/mirror/objects'],
  descriptors: { worktree: 30, metadata: 31 },
} as const;
const worktree = worktreePolicy({
  ...facts,
  lane,
  repository: { config: '[core]\n\tbare = false', sockets: ['s.ipc'] },
});
const checkout = checkoutPolicy({
  ...facts,
  lane: {
    kind: 'checkout',
    root: '/home/op/repo',
    gitDir: '/home/op/repo/.git',
    alternates: [],
    descriptors: { root: 30, git: 31 },
  },
});
const plain = plainRootPolicy({ ...facts, lane: { kind: 'plain', root: '/home/op/repo' } });

/** What finally stands at a path: the last mount there. */
function at(policy: Policy, path: string): Mount['kind'] | undefined {
  return policy.mounts.filter((mount) => mount.path === path && mount.kind !== 'sealed').at(-1)?.kind;
}

function indexOf(policy: Policy, path: string): number {
  return policy.mounts.findIndex((mount) => mount.path === path);
}

describe('a folder that brings a table of mounts of its own', () => {
  const withKernel = (read: readonly string[]) =>
    plainRootPolicy({
      ...facts,
      machine: { ...machine, readableDirectories: ['/usr', '/sys', '/etc'], read },
      lane: { kind: 'plain', root: '/home/op/repo' },
    }).mounts.map(({ path }) => path);

  it('comes after all others, which need not read that table then', () => {
    expect(withKernel([]).slice(-3)).toEqual(['/home/op/repo', '/sys', '/']);
  });

  it('comes before what is mounted in it', () => {
    const paths = withKernel(['/sys/devices']);
    expect(paths.indexOf('/sys')).toBeLessThan(paths.indexOf('/sys/devices'));
  });
});

describe('the policy of a worktree lane', () => {
  it('lets it write its tree, its metadata and the shared object and ref storage, and nothing else [L15]', () => {
    expect(writablePaths(worktree)).toEqual([
      '/run/codelanes/home',
      '/home/op/repo/.worktrees/a',
      '/home/op/repo/.git/objects',
      '/home/op/repo/.git/refs',
      '/home/op/repo/.git/logs/refs',
      '/home/op/repo/.git/worktrees/a1',
    ]);
  });

  it('pins by descriptor all that says where Git looks or what it runs', () => {
    const pins = worktree.mounts.flatMap((mount) =>
      'source' in mount && mount.source.from === 'descriptor' ? [`${mount.kind} ${mount.path}`] : [],
    );
    expect(pins).toEqual([
      'writable /home/op/repo/.worktrees/a',
      'readable /home/op/repo/.worktrees/a/.git',
      'readable /home/op/repo/.git',
      'writable /home/op/repo/.git/objects',
      'readable /home/op/repo/.git/objects/info',
      'writable /home/op/repo/.git/refs',
      'writable /home/op/repo/.git/logs/refs',
      'readable /home/op/repo/.git/worktrees',
      'writable /home/op/repo/.git/worktrees/a1',
      'readable /home/op/repo/.git/worktrees/a1/commondir',
      'readable /home/op/repo/.git/worktrees/a1/gitdir',
      'readable /home/op/repo/.git/worktrees/a1/config.worktree',
    ]);
  });

  it('hides the checkout before it shows the lane, and seals the empty places afterwards', () => {
    expect(at(worktree, '/home/op/repo')).toBe('temporary');
    expect(indexOf(worktree, '/home/op/repo')).toBeLessThan(indexOf(worktree, lane.lanePath));
    expect(worktree.mounts.slice(-2)).toEqual([
      { kind: 'sealed', path: '/home/op/repo' },
      { kind: 'sealed', path: '/' },
    ]);
  });

  it('shows the alternates that were recorded, and no socket of a daemon', () => {
    expect(at(worktree, '/srv/mirror/objects')).toBe('readable');
    expect(at(worktree, '/home/op/repo/.git/s.ipc')).toBe('masked');
  });

  it('shows the shared configuration with the mark that keeps objects, whatever line it ended with', () => {
    const config = worktree.mounts.find((mount) => mount.kind === 'text');
    expect(config).toEqual({
      kind: 'text',
      path: '/home/op/repo/.git/config',
      text: '[core]\n\tbare = false\n[extensions]\n\tpreciousObjects = true\n',
    });
  });
});

describe('the policy of a checkout lane', () => {
  it('mounts .git onto itself, hooks and configuration read-only, and nothing beneath worktrees', () => {
    expect(
      checkout.mounts.slice(indexOf(checkout, '/home/op/repo')).map((mount) => `${mount.kind} ${mount.path}`),
    ).toEqual([
      'writable /home/op/repo',
      'writable /home/op/repo/.git',
      'readable /home/op/repo/.git/hooks',
      'readable /home/op/repo/.git/config',
      'sealed /',
    ]);
  });
});

describe('every policy', () => {
  const policies = { worktree, checkout, plain };

  it('shows system directories read-only, with secrets masked', () => {
    for (const policy of Object.values(policies)) {
      for (const path of ['/usr', '/etc', '/opt', '/proc/sys', '/home/op/.rustup'])
        expect(at(policy, path)).toBe('readable');
      expect(at(policy, '/etc/shadow')).toBe('masked');
      expect(at(policy, '/etc/ssh')).toBe('temporary');
      expect(at(policy, '/home/op')).toBeUndefined();
    }
  });

  it('mounts what lies in /run and /var after these were emptied', () => {
    for (const policy of Object.values(policies)) {
      expect(indexOf(policy, '/run')).toBeLessThan(indexOf(policy, '/run/current-system'));
      expect(indexOf(policy, '/run')).toBeLessThan(indexOf(policy, '/run/systemd/resolve/stub-resolv.conf'));
      expect(indexOf(policy, '/var')).toBeLessThan(indexOf(policy, '/var/lib/dpkg'));
    }
  });

  it('bounds every temporary folder and seals /dev [S4: 24]', () => {
    for (const policy of Object.values(policies)) {
      const sizes = policy.mounts.flatMap((mount) => (mount.kind === 'temporary' ? [mount.bytes] : []));
      expect(Math.min(...sizes)).toBeGreaterThan(0);
      expect(policy.mounts).toContainEqual({ kind: 'sealed', path: '/dev' });
    }
  });

  it('hides home and state where a directory that is shown would show them', () => {
    const shown = { ...machine, read: ['/home'] };
    const policy = plainRootPolicy({ ...facts, machine: shown, lane: { kind: 'plain', root: '/srv/repo' } });
    expect(at(policy, '/home')).toBe('readable');
    expect(at(policy, '/home/op')).toBe('temporary');
    expect(at(policy, '/home/op/.state')).toBe('temporary');
    expect(indexOf(policy, '/home')).toBeLessThan(indexOf(policy, '/home/op'));
  });

  it('[D6] hides stores of snapshots wherever something that is shown would show them', () => {
    const closed = ['/opt/store', '/home/op/.cargo/bin/store', '/data/open/store', '/data/apart'];
    const policy = worktreePolicy({
      ...facts,
      machine: { ...machine, closed, read: ['/data/open'] },
      lane,
      repository: { config: '', sockets: [] },
    });
    expect(closed.map((path) => at(policy, path))).toEqual([
      'temporary',
      'temporary',
      'temporary',
      undefined,
    ]);
  });

  it('hides every folder that is served where the system’s folders would show it, before it shows the lane', () => {
    const served = ['/opt/work', '/opt/other', '/home/op/repo'];
    const root = '/opt/work/app';
    const policy = checkoutPolicy({
      ...facts,
      machine: { ...machine, served, read: ['/opt/other/open'] },
      lane: {
        kind: 'checkout',
        root,
        gitDir: `${root}/.git`,
        alternates: [],
        descriptors: { root: 30, git: 31 },
      },
    });
    expect(served.map((path) => at(policy, path))).toEqual(['temporary', 'temporary', undefined]);
    const order = ['/opt', '/opt/work', root].map((path) => indexOf(policy, path));
    expect(order).toEqual(order.toSorted((one, other) => one - other));
    expect(indexOf(policy, '/opt/other/open')).toBeGreaterThan(indexOf(policy, '/opt/other'));
  });

  it('shows what the operator opened inside the hidden checkout only after hiding it', () => {
    const opened = { ...machine, read: ['/home/op/repo/node_modules'] };
    const policy = worktreePolicy({
      ...facts,
      machine: opened,
      lane,
      repository: { config: '', sockets: [] },
    });
    expect(indexOf(policy, '/home/op/repo')).toBeLessThan(indexOf(policy, '/home/op/repo/node_modules'));
    expect(at(policy, '/home/op/repo/node_modules')).toBe('readable');
  });

  it('passes an environment of its own and no network', () => {
    expect(worktree.environment).toMatchObject({
      HOME: '/run/codelanes/home',
      PATH: '/run/codelanes/bin:/home/op/.cargo/bin:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin',
      RUSTUP_HOME: '/home/op/.rustup',
      GIT_CONFIG_VALUE_0: '/home/op/repo/.worktrees/a',
    });
    for (const policy of Object.values(policies)) expect(policy.network).toEqual({ kind: 'none' });
  });

  it('adds to a lane with a network the variables of its proxy, and Node where there is no Perl', () => {
    const network = { kind: 'public' } as const;
    const place = { kind: 'plain', root: '/home/op/repo' } as const;
    const networked = plainRootPolicy({
      ...facts,
      machine: { ...machine, perl: '/usr/bin/perl' },
      network,
      lane: place,
    });
    expect(networked.network).toEqual(network);
    expect(networked.environment).toEqual({
      ...plain.environment,
      ...Object.fromEntries(
        ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) =>
          [name, name.toLowerCase()].map((either) => [either, 'http://127.0.0.1:61280']),
        ),
      ),
      NO_PROXY: 'localhost,127.0.0.1,::1',
      no_proxy: 'localhost,127.0.0.1,::1',
      NODE_USE_ENV_PROXY: '1',
    });
    expect(networked.mounts).toEqual(plain.mounts);
    const withoutPerl = plainRootPolicy({ ...facts, network, lane: place });
    expect(
      withoutPerl.mounts.filter((mount) => !plain.mounts.some((other) => other.path === mount.path)),
    ).toEqual([
      { kind: 'readable', path: '/run/codelanes/node', source: { from: 'path', path: process.execPath } },
    ]);
  });
});

describe('the arguments of bubblewrap', () => {
  const numbers = new Map(
    [
      'worktree',
      'pointer',
      'commonDir',
      'objects',
      'objects/info',
      'refs',
      'logs/refs',
      'worktrees',
      'metadata',
      'commondir',
      'gitdir',
      'config.worktree',
    ].map((name, index) => [name, 10 + index]),
  );
  const words = bwrapArguments(worktree, {
    journalId: '0123',
    descriptors: numbers,
    texts: new Map([['/home/op/repo/.git/config', 40]]),
    statusDescriptor: 4,
    program: ['/bin/sh', '-c', 'gate', 'command'],
  });
  const text = ` ${words.join(' ')} `;

  it('always unshare everything, drop every capability and die with the worker [S4: 1-3] [S4: 26]', () => {
    for (const word of [
      '--die-with-parent',
      '--new-session',
      '--unshare-user',
      '--unshare-pid',
      '--unshare-net',
      '--unshare-ipc',
      '--unshare-uts',
      '--unshare-cgroup-try',
      '--cap-drop ALL',
      '--disable-userns',
      '--ro-bind /proc/sys /proc/sys',
      '--remount-ro /dev',
      '--chdir /home/op/repo/.worktrees/a/sub',
    ]) {
      expect(text).toContain(` ${word} `);
    }
    expect(text).not.toContain('--share');
    expect(text).not.toContain('--block-fd');
  });

  it('bear the journal, name descriptors by number, and end with the program', () => {
    expect(text).toContain(' --setenv CODELANES_JOURNAL 0123 ');
    expect(text).toContain(
      ' --bind-fd 10 /home/op/repo/.worktrees/a --ro-bind-fd 11 /home/op/repo/.worktrees/a/.git ',
    );
    expect(text).toContain(' --ro-bind-data 40 /home/op/repo/.git/config ');
    expect(words.slice(-5)).toEqual(['--', '/bin/sh', '-c', 'gate', 'command']);
  });

  it('put a size before every temporary folder', () => {
    const before = words.flatMap((word, index) => (word === '--tmpfs' ? [words[index - 2]] : []));
    expect(before.length).toBeGreaterThan(4);
    expect(new Set(before)).toEqual(new Set(['--size']));
  });

  it('refuse a policy that mounts what nobody opened', () => {
    expect(() =>
      bwrapArguments(worktree, {
        journalId: '',
        descriptors: new Map(),
        texts: new Map(),
        statusDescriptor: 4,
        program: [],
      }),
    ).toThrow('nobody has opened');
  });
});
