import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../files/find-program.js';
import { readGlobalSettings } from '../git/global-config.js';
import { gatherMachineFacts } from '../sandbox/machine-facts.js';
import { selfTest } from '../sandbox/self-test.js';
import { writeSharedFolders } from '../sandbox/worker-folders.js';
import type { Finding } from './finding.js';

/** Looks for what a worker needs of this machine, and attacks a sandbox as the worker does when it starts. */
export async function examineMachine(searchPath = process.env['PATH'] ?? ''): Promise<readonly Finding[]> {
  const git = findProgram('git', searchPath);
  return [
    ...examineUser(),
    found('git', git, 'no command is run without it'),
    found('ripgrep', findProgram('rg', searchPath), 'search_text and list_files do not work without it'),
    found(
      'flock',
      findProgram('flock', searchPath),
      'the worker cannot lock its folders without it (util-linux)',
    ),
    await examineSandbox(git, searchPath),
  ];
}

function examineUser(): Finding[] {
  if (process.getuid?.() !== 0) return [];
  return [
    {
      subject: 'user',
      verdict: 'limited',
      sentence:
        'You are root: the worker starts with --allow-root only. Better run it as the owner of the repositories.',
    },
  ];
}

function found(subject: string, path: string | undefined, consequence: string): Finding {
  if (path !== undefined) return { subject, verdict: 'ok', sentence: `${path}.` };
  return { subject, verdict: 'failed', sentence: `It is not on the PATH, and ${consequence}: install it.` };
}

async function examineSandbox(git: string | undefined, searchPath: string): Promise<Finding> {
  const subject = 'sandbox';
  if (git === undefined) return { subject, verdict: 'failed', sentence: 'It cannot be tried without git.' };
  const state = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-doctor-')));
  try {
    const shared = writeSharedFolders(state, git, await readGlobalSettings(process.env));
    const tested = await selfTest({ machine: gatherMachineFacts({ home: homedir(), searchPath }), shared });
    return tested.ok
      ? { subject, verdict: 'ok', sentence: 'Commands are walled: no attack on a lane got through.' }
      : {
          subject,
          verdict: 'failed',
          sentence: `No command is run on this machine. ${tested.reason} ${tested.remedy}`,
        };
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}
