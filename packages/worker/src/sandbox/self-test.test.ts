import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatherMachineFacts } from './machine-facts.js';
import { selfTest, type SelfTestResult } from './self-test.js';
import { remedyFor } from './wall-remedies.js';
import { writeSharedFolders, type SharedFolders } from './worker-folders.js';

const machine = gatherMachineFacts({ home: '/nonexistent', searchPath: '/usr/bin:/bin' });
let folder: string;
let shared: SharedFolders;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-self-test-'));
  shared = writeSharedFolders(join(folder, 'state'), '/usr/bin/git', {});
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A bubblewrap that does something else before, or instead of, the real one. */
function fakeBwrap(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/bash\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

function said(result: SelfTestResult): string {
  return result.ok ? '' : `${result.reason} ${result.remedy}`;
}

describe('the self-test', () => {
  it('passes where every probe is refused, and leaves nothing behind', async () => {
    expect(await selfTest({ machine, shared })).toEqual({ ok: true });
    expect(readdirSync(shared.state).filter((name) => name.startsWith('self-test-'))).toEqual([]);
  });

  it('says what a wall lets through', async () => {
    const bwrap = fakeBwrap(
      'weak',
      'kept=(); for word in "$@"; do case $word in --unshare-user | --disable-userns) ;; *) kept+=("$word") ;; esac; done\n' +
        'exec /usr/bin/bwrap "${kept[@]}"',
    );
    const result = await selfTest({ machine, shared, bwrap });
    expect(result.ok).toBe(false);
    expect(said(result)).toContain('make a user namespace');
  });

  it('refuses a machine without bubblewrap and says how to get it [T16]', async () => {
    const result = await selfTest({ machine, shared, bwrap: join(folder, 'absent') });
    expect(result.ok).toBe(false);
    expect(said(result)).toContain('Install bubblewrap');
  });

  it('says in whole sentences that bubblewrap may not be run, and what to do', async () => {
    const forbidden = join(folder, 'forbidden');
    writeFileSync(forbidden, '', { mode: 0o644 });
    const result = await selfTest({ machine, shared, bwrap: forbidden });
    expect(said(result)).toMatch(/EACCES\. Let the user of the worker run that program/u);
  });

  it('passes the reason on when no namespace can be made [T16]', async () => {
    const bwrap = fakeBwrap('denied', 'echo "bwrap: No permissions to create new namespace" >&2; exit 1');
    const result = await selfTest({ machine, shared, bwrap });
    expect(result.ok).toBe(false);
    expect(said(result)).toContain('No permissions to create new namespace');
  });

  it('names the setting that stands in the way [T16]', () => {
    const reason = 'bwrap: setting up uid map: Permission denied';
    expect(remedyFor(reason, { apparmorRestrictsUserNamespaces: '1\n' })).toContain(
      'kernel.apparmor_restrict_unprivileged_userns=0',
    );
    expect(remedyFor(reason, { unprivilegedUserNamespaces: '0\n' })).toContain(
      'kernel.unprivileged_userns_clone=1',
    );
    expect(remedyFor(reason, { maxUserNamespaces: '0\n' })).toContain('user.max_user_namespaces');
    expect(remedyFor(reason, {})).toContain('seccomp');
  });
});
