import type { ProcessIdentity } from '../lanes/processes.js';
import type { LaneSandbox } from '../sandbox/lane-sandbox.js';
import { executeCommand } from './execute-command.js';

export interface DropGitlinks {
  /** Entries of the checkout's index, relative to it; at least one. */
  readonly paths: readonly string[];
  /** The checkout's wall. */
  readonly sandbox: LaneSandbox;
  /** Absolute path of the machine's own Git. */
  readonly realGit: string;
  readonly journalId: string;
  readonly journalStart: (init: ProcessIdentity) => Promise<void>;
}

/** What came of it, as a sentence; where it failed the checkout must stay closed. */
export interface DroppedGitlinks {
  readonly dropped: boolean;
  readonly sentence: string;
}

/** Takes planted submodules out of a checkout's index, with a Git that is walled like a command. */
export async function dropGitlinks(options: DropGitlinks): Promise<DroppedGitlinks> {
  const { paths, sandbox, realGit, journalId, journalStart } = options;
  const outcome = await executeCommand({
    policy: sandbox.policy,
    descriptors: sandbox.descriptors,
    command: `exec ${quoted(realGit)} -c core.fsmonitor=false update-index --force-remove -- ${paths.map(quoted).join(' ')}`,
    shell: '/bin/sh',
    timeoutMs: 10_000,
    maxOutputBytes: 4_096,
    graceMs: 0,
    journalId,
    journalStart,
  });
  const names = paths.map((path) => JSON.stringify(path)).join(', ');
  return outcome.gone && outcome.exitCode === 0
    ? {
        dropped: true,
        sentence: `${names} was taken out of the index: it is a repository of its own, whose settings Git would run.`,
      }
    : { dropped: false, sentence: `${names} could not be taken out of the index: ${outcome.stderr.trim()}` };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
