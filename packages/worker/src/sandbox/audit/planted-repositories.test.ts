import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LaneFixture } from '../../commands/testing/lane-fixture.js';
import { auditCheckout, type AuditResult } from './audit.js';
import { takeSnapshot } from './snapshot.js';

let fixture: LaneFixture;
beforeEach(() => {
  fixture = new LaneFixture(['a']);
});
afterEach(() => {
  fixture.remove();
});

/** Runs a command at the checkout with an audit after it, and takes stray submodules out of the index. */
async function audited(command: string): Promise<AuditResult> {
  const lane = fixture.openCheckout();
  const snapshot = takeSnapshot(lane);
  lane.close();
  expect(await fixture.atCheckout(command)).toMatchObject({ exitCode: 0 });
  const audit = auditCheckout(snapshot);
  expect(audit.quarantine).toBeUndefined();
  for (const { path } of audit.strayGitlinks) fixture.host(`git update-index --force-remove '${path}'`);
  return audit;
}

/** Whether what was planted runs when the operator works with Git at the checkout. */
function runs(work = 'git status; git diff --stat'): boolean {
  fixture.host(`(${work}) >/dev/null 2>&1 || true`);
  return existsSync(join(fixture.folder, 'home', 'ran'));
}

const evil = (config: string) =>
  String.raw`printf "[core]\n\tfsmonitor = \"touch $PWD/../ran; false\"\n" >> ${config}`;
/** A submodule whose repository is still its own. */
const submodule =
  'git init -q sub && git -C sub commit -q --allow-empty -m x && git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub && mkdir -p .git/modules';
const pointer = (target: string) => String.raw`printf 'gitdir: %s\n' '../.git/${target}' > sub/.git`;

describe('the audit', () => {
  const outOfSight: Readonly<Record<string, readonly string[]>> = {
    'behind a link': [
      'mv sub/.git .git/objects/x && ln -s ../objects/x .git/modules/m',
      evil('.git/objects/x/config'),
      pointer('modules/m'),
    ],
    'behind a link on the way': [
      'mkdir .git/objects/y && mv sub/.git .git/objects/y/x && ln -s ../objects/y .git/modules/m',
      evil('.git/objects/y/x/config'),
      pointer('modules/m/x'),
    ],
    'in a folder that looks like a Git directory': [
      'mkdir .git/modules/p && touch .git/modules/p/HEAD && mv sub/.git .git/modules/p/q',
      evil('.git/modules/p/q/config'),
      pointer('modules/p/q'),
    ],
    'among the objects of another': [
      'git init -q --bare .git/modules/p && mv sub/.git .git/modules/p/objects/q',
      evil('.git/modules/p/objects/q/config'),
      pointer('modules/p/objects/q'),
    ],
    'deeper than anybody looks': [
      'mkdir -p .git/modules/1/2/3/4/5/6/7/8/9/10/11/12 && mv sub/.git .git/modules/1/2/3/4/5/6/7/8/9/10/11/12/m',
      evil('.git/modules/1/2/3/4/5/6/7/8/9/10/11/12/m/config'),
      pointer('modules/1/2/3/4/5/6/7/8/9/10/11/12/m'),
    ],
    'under a name that is no text': [
      String.raw`N=$(printf 'n\377') && mv sub/.git ".git/modules/$N"`,
      evil('".git/modules/$N/config"'),
      String.raw`printf 'gitdir: ../.git/modules/n\377\n' > sub/.git`,
    ],
  };

  for (const [where, steps] of Object.entries(outOfSight)) {
    it(`takes a submodule out of the index whose repository lies ${where} [S4: 13]`, async () => {
      const audit = await audited([submodule, ...steps].join(' && '));
      expect(audit.strayGitlinks).toEqual([{ repository: '', path: 'sub' }]);
      expect(runs()).toBe(false);
    });
  }

  it('looks where a known submodule lies, whatever is made of the folders on the way', async () => {
    fixture.host(`${submodule} && mkdir .git/modules/p && mv sub/.git .git/modules/p/q`);
    fixture.host(pointer('modules/p/q'));
    await audited('touch .git/modules/p/HEAD');
    const redirect = `cp -r .git/modules/p/q .git/objects/x && echo ../../../objects/x > .git/modules/p/q/commondir`;
    const { notices } = await audited(
      [redirect, evil('.git/objects/x/config'), evil('.git/modules/p/q/config')].join(' && '),
    );
    expect(notices).toEqual([
      expect.stringContaining('".git/modules/p/q/commondir"'),
      expect.stringContaining('".git/modules/p/q/config"'),
    ]);
    expect(runs()).toBe(false);
  });

  it('leaves a rebase that waits, without the commands that it would run', async () => {
    fixture.host('git commit -q --allow-empty -m two && echo x > file && git commit -qam three');
    const stop = 'GIT_SEQUENCE_EDITOR="sed -i 1ibreak" git rebase -q -i HEAD~2';
    const plant = String.raw`printf '\texec touch %s\nx\ttouch %s\n' $PWD/../ran $PWD/../ran >> .git/rebase-merge/git-rebase-todo`;
    const { notices } = await audited(`${stop} && ${plant}`);
    expect(notices).toEqual([expect.stringContaining('".git/rebase-merge/git-rebase-todo"')]);
    expect(runs('git rebase --continue')).toBe(false);
    expect(fixture.host('git status; git log -1 --format=%s')).toMatch(/^On branch main\n[^]*\nthree\n$/u);
  });

  it("keeps the commands of the operator's own rebase", async () => {
    fixture.host('git commit -q --allow-empty -m two');
    fixture.host('GIT_SEQUENCE_EDITOR="sed -i 1ibreak" git rebase -q -i --exec "touch ../mine" HEAD~1');
    const { notices } = await audited('true');
    expect(notices).toEqual([]);
    fixture.host('git rebase --continue');
    expect(existsSync(join(fixture.folder, 'home', 'mine'))).toBe(true);
  });

  it('looks where a submodule lies in one whose repository is its own', async () => {
    fixture.host(
      `${submodule} && git init -q sub/inner && git -C sub/inner commit -q --allow-empty -m y &&
       git -C sub update-index --add --cacheinfo 160000,$(git -C sub/inner rev-parse HEAD),inner &&
       mkdir -p sub/.git/modules/a && mv sub/inner/.git sub/.git/modules/a/b &&
       echo 'gitdir: ../.git/modules/a/b' > sub/inner/.git`,
    );
    const { notices } = await audited(
      [
        'touch sub/.git/modules/a/HEAD && cp -r sub/.git/modules/a/b .git/objects/x',
        evil('.git/objects/x/config'),
        'echo "$PWD/.git/objects/x" > sub/.git/modules/a/b/commondir',
      ].join(' && '),
    );
    expect(runs()).toBe(false);
    expect(notices).toEqual([expect.stringContaining('"sub/.git/modules/a/b/commondir"')]);
  });

  it.each([
    ['remotes', String.raw`printf "URL: $PWD/evil.git\nPush: HEAD:refs/heads/x\n"`],
    ['branches', String.raw`printf "$PWD/evil.git\n"`],
  ])('removes a remote that stands in .git/%s, whose hooks a push would run', async (folder, text) => {
    const { notices } = await audited(
      [
        'git init -q --bare evil.git',
        String.raw`printf "#!/bin/sh\ntouch $PWD/../ran\n" > evil.git/hooks/pre-receive && chmod +x evil.git/hooks/pre-receive`,
        `mkdir -p .git/${folder} && ${text} > .git/${folder}/origin`,
      ].join(' && '),
    );
    expect(notices).toEqual([expect.stringContaining(`".git/${folder}/origin"`)]);
    expect(runs('git push')).toBe(false);
  });
});
