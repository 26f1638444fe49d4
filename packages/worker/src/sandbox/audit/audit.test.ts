import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LaneFixture } from '../../commands/testing/lane-fixture.js';
import type { CommandOutcome } from '../../commands/execute-command.js';
import { auditCheckout, type AuditResult } from './audit.js';
import { snapshotSchema, takeSnapshot, type Snapshot } from './snapshot.js';

let fixture: LaneFixture;
beforeEach(() => {
  fixture = new LaneFixture(['a', 'b']);
});
afterEach(() => {
  fixture.remove();
});

function snapshot(): Snapshot {
  const lane = fixture.openCheckout();
  try {
    return takeSnapshot(lane);
  } finally {
    lane.close();
  }
}

/** Runs a command at the checkout as the worker does: snapshot, through JSON as after a crash, run, audit. */
async function audited(command: string): Promise<{ run: CommandOutcome; audit: AuditResult }> {
  const written = JSON.stringify(snapshot());
  const run = await fixture.atCheckout(command);
  return { run, audit: auditCheckout(snapshotSchema.parse(JSON.parse(written))) };
}

describe('the audit', () => {
  const host =
    'git status >/dev/null; git worktree list >/dev/null; git log -1 >/dev/null; git diff >/dev/null';
  const evil =
    '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "touch /tmp/codelanes-planted-'.concat(
      String(process.pid),
      '; false"\\n',
    );

  const plants: Record<string, string> = {
    '.git/commondir': `mkdir -p evil/objects evil/refs && cp .git/HEAD evil/ && printf '${evil}' > evil/config && printf '../evil' > .git/commondir`,
    '.git/config.worktree': `printf '${evil}' > .git/config.worktree`,
    '.git/info/attributes': `echo '* filter=x' > .git/info/attributes`,
    '.git/objects/info/alternates': 'mkdir -p /tmp/x && echo /tmp/x > .git/objects/info/alternates',
    '.git/worktrees/a/config.worktree': `printf '${evil}' > .git/worktrees/a/config.worktree`,
    '.git/worktrees/a/commondir': 'mkdir -p evil && echo ../../../evil > .git/worktrees/a/commondir',
    '.git/worktrees/a/gitdir': 'echo "$PWD/file" > .git/worktrees/a/gitdir',
    '.worktrees/a/.git': 'echo "gitdir: $PWD/evil" > .worktrees/a/.git',
    '.git/worktrees/z/commondir':
      'mkdir -p .git/worktrees/z && echo ../../../evil > .git/worktrees/z/commondir',
    '.git/modules/m/config': `mkdir -p .git/modules/m && printf '${evil}' > .git/modules/m/config`,
    '.git/modules/deep/er/hooks/post-checkout':
      'mkdir -p .git/modules/deep/er/hooks && echo x > .git/modules/deep/er/hooks/post-checkout',
    '.git/logs/HEAD': 'ln -s ../../file .git/logs/HEAD',
    '.git/COMMIT_EDITMSG': 'ln -s ../file .git/COMMIT_EDITMSG',
    '.worktrees/b/.git': 'mkdir -p .worktrees/b && echo "gitdir: /etc" > .worktrees/b/.git',
  };

  for (const [place, plant] of Object.entries(plants)) {
    it(`undoes a change of ${place} and says so`, async () => {
      fixture.host('rm -f .git/logs/HEAD .git/COMMIT_EDITMSG');
      const before = fixture.host(`cat ${place} 2>/dev/null || true`);
      const { run, audit } = await audited(plant);
      expect(run).toMatchObject({ exitCode: 0, stderr: '' });
      expect(audit.quarantine).toBeUndefined();
      expect(audit.notices.join('\n')).toContain(`"${place}"`);
      expect(fixture.host(`cat ${place} 2>/dev/null || true`)).toBe(before);
      fixture.host(host);
      expect(fixture.host(`ls /tmp/codelanes-planted-${process.pid} 2>/dev/null || true`)).toBe('');
    });
  }

  it('puts back what lies behind a link without following it', async () => {
    fixture.host('echo "* text" > .git/info/attributes');
    const { audit } = await audited('rm .git/info/attributes && ln -s ../../file .git/info/attributes');
    expect(audit.notices).toHaveLength(1);
    expect(fixture.host('cat .git/info/attributes file')).toBe('* text\none\n');
  });

  it('asks for a person when a folder of Git was exchanged for a link', async () => {
    fixture.host('mkdir -p .git/info && echo x > .git/info/attributes');
    const { audit } = await audited('mv .git/info i && ln -s ../i .git/info');
    expect(audit.quarantine).toContain('".git/info"');
  });

  it('asks for a person when hooks or .git are no longer the same folder', () => {
    const before = snapshot();
    fixture.host('mv .git/hooks .git/h2 && mkdir .git/hooks');
    expect(auditCheckout(before).quarantine).toContain('hooks folder');
    fixture.host('mv .git g2 && cp -r g2 .git');
    expect(auditCheckout(before).quarantine).toContain('Git directory');
    fixture.host('mv .git g3 && ln -s g2 .git');
    expect(auditCheckout(before).quarantine).toContain('cannot be looked through');
  });

  it('finds a new submodule of the command’s own making, and restores one that was exchanged [S4: 13]', async () => {
    fixture.host(
      'git init -q ../lib && git -C ../lib commit -q --allow-empty -m lib && git -c protocol.file.allow=always submodule --quiet add ../lib lib && git commit -qm lib',
    );
    const pointer = fixture.host('cat lib/.git');
    const { audit } = await audited(
      `git init -q nested && git -C nested commit -q --allow-empty -m n && git add nested 2>/dev/null
       rm -f lib/.git && cp -r nested/.git lib/.git`,
    );
    expect(audit.strayGitlinks).toEqual([{ repository: '', path: 'nested' }]);
    expect(audit.notices).toHaveLength(1);
    expect(audit.notices[0]).toContain('"lib/.git"');
    expect(fixture.host('cat lib/.git')).toBe(pointer);
  });

  it.each([
    ['the settings of a submodule', '.git/modules/m/config'],
    ['the settings of the checkout’s own worktree', '.git/config.worktree'],
    ['a pointer of a sibling', '.git/worktrees/a/commondir'],
    ['empty settings that it made', '.git/worktrees/a/config.worktree'],
  ])('leaves %s no second name, by which a lane could write there later', async (_what, place) => {
    fixture.host(
      'mkdir -p .git/modules/m && cp .git/HEAD .git/config .git/modules/m && cp .git/config .git/config.worktree',
    );
    const { run, audit } = await audited(
      `touch ${place}; ln ${place} .git/objects/kept && ln ${place} .git/refs/kept`,
    );
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(audit).toMatchObject({ notices: [expect.stringContaining(`"${place}"`)], strayGitlinks: [] });
    const before = fixture.host(`cat ${place}`);
    await fixture.inWorktree(
      'b',
      'for name in objects refs; do echo planted >> "$CODELANES_GIT_COMMON_DIR/$name/kept"; done',
    );
    expect(fixture.host('tail -n 1 .git/objects/kept .git/refs/kept')).toContain('planted');
    expect(fixture.host(`cat ${place}`)).toBe(before);
  });

  it('lets the further names be that a file had before', async () => {
    fixture.host('cp .git/config .git/config.worktree && ln .git/config.worktree backup');
    const { audit } = await audited('true');
    expect(audit.notices).toEqual([]);
    expect(fixture.host('stat -c %h .git/config.worktree')).toBe('2\n');
  });

  it('removes a file of any size that was made, without reading it', async () => {
    const { audit } = await audited('truncate -s 20G .git/info/attributes');
    expect(audit.quarantine).toBeUndefined();
    expect(audit.notices.join()).toContain('".git/info/attributes" was made by the command');
    expect(fixture.host('ls .git/info')).not.toContain('attributes');
  });

  it('undoes what the host changed behind a mount', () => {
    const config = readFileSync(join(fixture.git, 'config'), 'utf8');
    const before = snapshot();
    fixture.host('git config core.fsmonitor false; echo x > .git/hooks/pre-push');
    expect(auditCheckout(before).notices).toHaveLength(2);
    expect(readFileSync(join(fixture.git, 'config'), 'utf8')).toBe(config);
    expect(fixture.host('ls .git/hooks')).not.toContain('pre-push\n');
  });
});
