import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LaneFacts } from '../sandbox/lane-facts.js';
import { LaneFixture } from './testing/lane-fixture.js';
import type { StartRecord } from './lane-care.js';
import { runInLane, type LaneOutcome } from './run-in-lane.js';

let fixture: LaneFixture;
let records: StartRecord[];
beforeEach(() => {
  fixture = new LaneFixture(['a']);
  records = [];
});
afterEach(() => {
  fixture.remove();
});

async function run(
  lane: LaneFacts & { close?: () => void },
  command: string,
  timeoutMs = 45_000,
  verifyAgain?: () => void,
): Promise<LaneOutcome> {
  try {
    return await runInLane({
      lane,
      home: { lane: lane.kind, tree: '' },
      machine: fixture.machine,
      shared: fixture.shared,
      command,
      timeoutMs,
      graceMs: 50,
      maxOutputBytes: 10_000,
      journalId: fixture.journalId,
      verifyAgain,
      journalStart: (record) => {
        records.push(record);
        return Promise.resolve();
      },
    });
  } finally {
    lane.close?.();
  }
}

describe('a command in its lane', () => {
  it('at the checkout journals the snapshot with its start, and says last what was put back', async () => {
    const outcome = await run(fixture.openCheckout(), 'echo ../evil > .git/commondir; echo mine >&2; exit 3');
    expect(outcome).toMatchObject({ exitCode: 3, quarantine: undefined });
    expect(outcome.stderr).toMatch(
      /^mine\ncodelanes: "\.git\/commondir" was made by the command and has been removed/u,
    );
    expect(records.map((record) => [record.stage, record.snapshot?.root])).toEqual([
      ['command', fixture.root],
    ]);
  });

  it('runs nothing and journals nothing in a lane that does not verify again', async () => {
    const replaced = (): never => {
      throw new Error('it was replaced by another');
    };
    await expect(run(fixture.openWorktree('a'), 'touch ran', 45_000, replaced)).rejects.toThrow('replaced');
    expect(existsSync(join(fixture.path('a'), 'ran'))).toBe(false);
    expect(records).toEqual([]);
  });

  it('takes a submodule of its own making out of the index, walled and journalled [S4: 13]', async () => {
    const plant = `git init -q "it's" && git -C "it's" commit -q --allow-empty -m n && git add "it's" 2>/dev/null; git -C "it's" config core.fsmonitor "touch ${fixture.folder}/planted"`;
    const outcome = await run(fixture.openCheckout(), plant);
    expect(outcome.stderr).toContain(`"it's" was taken out of the index`);
    expect(records.map((record) => record.stage)).toEqual(['command', 'repair']);
    expect(fixture.host('git ls-files -s')).not.toContain('160000');
    fixture.host('git status');
    expect(existsSync(join(fixture.folder, 'planted'))).toBe(false);
  });

  describe('leaves no submodule for the operator’s Git to run the settings of', () => {
    const repository = (at: string): string =>
      `git init -q ${at} && git -C ${at} commit -q --allow-empty -m x && git -C ${at} config core.fsmonitor "touch $PLANTED; false"`;
    const add = 'git -c advice.addEmbeddedRepo=false add';
    const cases: Record<string, { before?: string; attack: string }> = {
      'in an index that was split': {
        attack: `${repository('n')} && ${add} n && git update-index --split-index`,
      },
      'in the empty folder of one that was not fetched': {
        before:
          'mkdir n && git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),n && git commit -qm n',
        attack: repository('n'),
      },
      'in a submodule': {
        before:
          'git init -q ../lib && git -C ../lib commit -q --allow-empty -m l && git -c protocol.file.allow=always submodule --quiet add ../lib lib && git commit -qm lib',
        attack: `cd lib && ${repository('n')} && ${add} n`,
      },
      'whose repository lies in its own folder': {
        before: `git init -q n && git -C n commit -q --allow-empty -m n && ${add} n && git commit -qm n`,
        attack: repository('n'),
      },
    };
    it.each(Object.entries(cases))('%s', async (_where, { before = 'true', attack }) => {
      fixture.host(before);
      const planted = join(fixture.folder, 'planted');
      const outcome = await run(fixture.openCheckout(), `PLANTED=${planted}; ${attack}`);
      expect(outcome).toMatchObject({ exitCode: 0, quarantine: undefined });
      expect(outcome.stderr).toContain('codelanes: ');
      fixture.host('git status');
      expect(existsSync(planted)).toBe(false);
    });

    it('under a name that is no text, with which the checkout is closed', async () => {
      const name = `"$(printf 'n\\377')"`;
      const outcome = await run(
        fixture.openCheckout(),
        `git init -q ${name} && git -C ${name} commit -q --allow-empty -m x && ${add} ${name}`,
      );
      expect(outcome.quarantine).toContain('index');
    });

    it('in an index of any size', async () => {
      const outcome = await run(fixture.openCheckout(), 'truncate -s 600M .git/index');
      expect(outcome.quarantine).toContain('index');
    });
  });

  it('clears the index lock of a Git that was killed with it, and only that', async () => {
    const lock = join(fixture.git, 'worktrees', 'a', 'index.lock');
    const killed = await run(
      fixture.openWorktree('a'),
      'touch "$CODELANES_GIT_METADATA/index.lock"; sleep 60',
      6_000,
    );
    expect(killed.stderr).toBe(
      'codelanes: The index lock that the stopped Git left behind has been removed.\n',
    );
    expect(existsSync(lock)).toBe(false);
    writeFileSync(lock, '');
    expect((await run(fixture.openWorktree('a'), 'sleep 60', 300)).stderr).toBe('');
    expect(existsSync(lock)).toBe(true);
  });

  it('asks for quarantine when the checkout cannot be put back', async () => {
    const outcome = await run(fixture.openCheckout(), 'mv .git/info i && ln -s ../i .git/info');
    expect(outcome.quarantine).toContain('".git/info"');
    expect(outcome.stderr).toContain('".git/info"');
  });

  it('runs in a root that is no repository as in any other [T29]', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-plain-')));
    try {
      const outcome = await run(
        { kind: 'plain', root },
        'touch made; git init -q; git config a.b c; ls -A; ls -d ~/..',
      );
      expect(outcome).toMatchObject({
        exitCode: 0,
        stdout: '.git\nmade\n/run/codelanes/home/..\n',
        stderr: '',
      });
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
