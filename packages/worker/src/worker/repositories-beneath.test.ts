import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identityOf } from '../files/directory.js';
import { makeSampleRepository, type SampleRepository } from '../lanes/testing/sample-repository.js';
import { RepositoriesBeneath } from './repositories-beneath.js';
import { takeRoot, type ServedRoot } from './served-root.js';

let stateDir: string;
let repository: SampleRepository;
let root: ServedRoot;
let git: string;
const identityAt = (path: string) => identityOf(statSync(path, { bigint: true }));

beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'codelanes-beneath-'));
  repository = makeSampleRepository('a');
  git = join(repository.root, '.git');
  const declared = {
    path: 'repository',
    workspaceId: 'primary:repository',
    checkout: repository.root,
    identity: identityAt(repository.root),
    gitIdentity: identityAt(git),
  };
  root = await takeRoot(
    { id: 'primary', root: repository.folder, linkedWorktreeLanes: true, read: [], repositories: [declared] },
    stateDir,
  );
});
afterEach(async () => {
  await root.close();
  repository.remove();
  rmSync(stateDir, { recursive: true });
});

const look = () =>
  RepositoriesBeneath.look({ root, commands: undefined, log: pino({ level: 'silent' }) }, ['primary']);

describe('the repositories beneath a root that a command has', () => {
  const spoilt: Readonly<Record<string, { spoil: () => void; mend: () => void }>> = {
    'has a folder of another way to keep refs': {
      spoil: () => {
        mkdirSync(join(git, 'reftable'));
      },
      mend: () => {
        rmdirSync(join(git, 'reftable'));
      },
    },
    'has lost its refs': {
      spoil: () => {
        renameSync(join(git, 'refs'), join(git, 'kept'));
      },
      mend: () => {
        renameSync(join(git, 'kept'), join(git, 'refs'));
      },
    },
    'has a file for its logs': {
      spoil: () => {
        renameSync(join(git, 'logs'), join(git, 'kept'));
        writeFileSync(join(git, 'logs'), '');
      },
      mend: () => {
        rmSync(join(git, 'logs'));
        renameSync(join(git, 'kept'), join(git, 'logs'));
      },
    },
  };

  for (const [what, { spoil, mend }] of Object.entries(spoilt)) {
    it(`are audited also where one ${what}, which a later command puts right`, async () => {
      const before = readFileSync(join(git, 'config'), 'utf8');
      spoil();
      const beneath = look();
      await beneath.keep();
      appendFileSync(join(git, 'config'), '[core]\n\tfsmonitor = "touch /tmp/planted"\n');
      mend();
      expect(await beneath.audit(false)).toEqual([
        expect.stringContaining('In "repository": ".git/config" was changed by the command'),
      ]);
      expect(readFileSync(join(git, 'config'), 'utf8')).toBe(before);
    });
  }

  it('let no command run where one has been moved away, since it could be moved back', () => {
    renameSync(git, join(repository.folder, 'elsewhere'));
    expect(look).toThrow('The repository "repository"');
    mkdirSync(git);
    expect(look).toThrow('The repository "repository"');
  });
});
