import type { ProcessIdentity } from '../lanes/processes.js';
import { noNetwork } from '../environment/network-policy.js';
import type { LaneSandbox } from '../sandbox/lane-sandbox.js';
import { placeOfGitlink, type Gitlink } from '../sandbox/audit/gitlinks.js';
import { executeCommand } from './execute-command.js';

export interface DropGitlinks {
  /** Entries of the checkout's index or of its submodules'; at least one. */
  readonly gitlinks: readonly Gitlink[];
  /** The checkout's wall. */
  readonly sandbox: LaneSandbox;
  /** Absolute path of the machine's own Git. */
  readonly realGit: string;
  readonly journalId: string;
  readonly journalStart: (init: ProcessIdentity) => Promise<void>;
  readonly onStart?: ((init: ProcessIdentity) => void) | undefined;
}

/** What came of it, as a sentence; where it failed the checkout must stay closed. */
export interface DroppedGitlinks {
  readonly dropped: boolean;
  readonly sentence: string;
}

/** Takes planted submodules out of the indexes of a checkout, with a Git that is walled like a command. */
export async function dropGitlinks(options: DropGitlinks): Promise<DroppedGitlinks> {
  const { gitlinks, sandbox, realGit, journalId, journalStart, onStart } = options;
  const outcome = await executeCommand({
    policy: { ...sandbox.policy, network: noNetwork },
    descriptors: sandbox.descriptors,
    command: commandFor(gitlinks, `${quoted(realGit)} -c core.fsmonitor=false`),
    shell: '/bin/sh',
    timeoutMs: 10_000,
    maxOutputBytes: 4_096,
    graceMs: 0,
    journalId,
    journalStart,
    onStart,
  });
  const names = gitlinks.map((link) => JSON.stringify(placeOfGitlink(link))).join(', ');
  return outcome.gone && outcome.exitCode === 0
    ? {
        dropped: true,
        sentence: `${names} was taken out of the index: it is a repository of its own, whose settings Git would run.`,
      }
    : { dropped: false, sentence: `${names} could not be taken out of the index: ${outcome.stderr.trim()}` };
}

function commandFor(gitlinks: readonly Gitlink[], git: string): string {
  const repositories = [...new Set(gitlinks.map(({ repository }) => repository))];
  return repositories
    .map((repository) => {
      const own = gitlinks.filter((link) => link.repository === repository);
      const where = repository === '' ? '' : ` -C ${quoted(repository)}`;
      return `${git}${where} update-index --force-remove -- ${own.map(({ path }) => quoted(path)).join(' ')}`;
    })
    .join(' && ');
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
