import { limits } from '@codelanes/protocol';
import { z } from 'zod';
import { absolutePath, closed, command, distinct, relativePath, treePath, wholeNumber } from './fields.js';

const gibibyte = 1024 ** 3;
const dayMs = 24 * 60 * 60 * 1000;
const anyNumber = Number.MAX_SAFE_INTEGER;

const repositorySetupDefaultMs = 600_000;
const idleForm = `expected a whole number of milliseconds from 1 to ${limits.setupTimeoutMs}`;

const lifecycleSchema = closed(
  {
    maxStoreBytes: wholeNumber('bytes', 1, anyNumber, 20 * gibibyte).describe(
      'Bytes that all snapshots of the store may take.',
    ),
    maxEntries: wholeNumber('snapshots', 1, anyNumber, 8).describe('Snapshots that are kept.'),
    retentionMs: wholeNumber('milliseconds', 1, anyNumber, 5 * dayMs).describe(
      'How long an unused snapshot is kept.',
    ),
    scanLimit: wholeNumber('names', 1, anyNumber, 4096).describe(
      'Names of the store that one look goes through.',
    ),
  },
  'the lifecycle of snapshots',
);

export type SnapshotLifecycle = z.output<typeof lifecycleSchema>;
/** Where a definition says nothing of it. */
export const defaultLifecycle: SnapshotLifecycle = lifecycleSchema.parse({});

const modulesPath = treePath('the relative path of a node_modules folder').refine(
  (path) => path.split('/').at(-1) === 'node_modules',
  'expected the relative path of a node_modules folder',
);

/** Copy-on-write copies of what a setup installed. */
const snapshotSchema = closed(
  {
    store: absolutePath('the folder that keeps snapshots').describe(
      'Folder of snapshots, outside of every root, yours alone.',
    ),
    paths: distinct(modulesPath, 'node_modules folders', 32)
      .superRefine((paths, context) => {
        paths.forEach((path, index) => {
          const outer = paths.find((other) => path.startsWith(`${other}/`));
          if (outer === undefined) return;
          context.addIssue({
            code: 'custom',
            path: [index],
            message: `lies in "${outer}", which is in the list; expected the outer one alone`,
          });
        });
      })
      .describe('What a snapshot holds: installed node_modules folders.'),
    maxBytes: wholeNumber('bytes', 1, anyNumber, 4 * gibibyte).describe('Largest snapshot.'),
    maxFiles: wholeNumber('files', 1, anyNumber, 200_000).describe('Most files of a snapshot.'),
    lifecycle: lifecycleSchema.optional().describe('How long snapshots are kept.'),
  },
  'the snapshot of a setup',
);

/** When a setup that ran before need not run again. */
const reuseSchema = closed(
  {
    inputs: distinct(relativePath('the relative path of a file'), 'files', 32).describe(
      'Files that decide what setup installs; a change means to run it again.',
    ),
    checkCommand: command('a command that checks what setup made').describe(
      'Exits 0 where what setup made is still good.',
    ),
    checkTimeoutMs: wholeNumber('milliseconds', 1, limits.commandTimeoutMs, 10_000).describe(
      'Time for checkCommand.',
    ),
    snapshot: snapshotSchema
      .optional()
      .describe('Keeps copies of what was installed, where the file system can clone files.'),
  },
  'the reuse of a setup',
);

/** Setup of an environment: once at each start of the worker, at the root, before it registers. */
export const environmentSetupSchema = closed(
  {
    command: command('a command for the shell').describe(
      'Runs at the root at each start of the worker, walled.',
    ),
    timeoutMs: wholeNumber('milliseconds', 1, limits.commandTimeoutMs, limits.commandTimeoutMs).describe(
      'Time for command.',
    ),
    reuse: reuseSchema.optional().describe('When what an earlier setup made is good enough.'),
  },
  'a setup',
);
export type EnvironmentSetup = z.output<typeof environmentSetupSchema>;

/** Setup of a repository: once in each new worktree of it. */
export const repositorySetupSchema = closed(
  {
    command: command('a command for the shell').describe(
      'Runs once in each new worktree, walled, before its first command.',
    ),
    timeoutMs: wholeNumber('milliseconds', 1, limits.setupTimeoutMs, repositorySetupDefaultMs).describe(
      'Time for command.',
    ),
    idleTimeoutMs: z
      .int(idleForm)
      .min(1, idleForm)
      .max(limits.setupTimeoutMs, idleForm)
      .optional()
      .describe('How long command may say nothing; without it as long as it runs.'),
    copy: distinct(treePath('the relative path of a file of the checkout'), 'paths', 64)
      .optional()
      .describe(
        'Ignored files of the checkout, like .env, that are copied into the worktree first; no link is followed.',
      ),
  },
  'the setup of a repository',
);
export type RepositorySetup = z.output<typeof repositorySetupSchema>;
