import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callIdSchema, worktreeNameSchema } from '@codelanes/protocol';
import { z } from 'zod';
import { Directory } from '../files/directory.js';
import { writeAtomically } from '../files/write.js';
import { processIdentitySchema } from '../lanes/processes.js';

/** Milliseconds since 1970. */
const at = z.int().nonnegative();

const begun = {
  version: z.literal(1),
  /** A root lane: the setup of the environment itself. */
  lane: z.array(z.string()).min(1).readonly(),
  /** Which worktree it is about, as `worktreeMark` has it; nothing for a root lane. */
  worktree: z.string(),
  /** By which definition, as `setupHash` has it. */
  setup: z.string(),
  /** The call of this run, by which its log is found. */
  call: callIdSchema,
  startedAt: at,
};

const ended = { ...begun, endedAt: at };

/** The last run of a setup in one worktree, or of an environment's own. */
export const setupRecordSchema = z.discriminatedUnion('state', [
  /** Only as long as this very worker lives: what it says of a dead one is that nobody knows how far it came. */
  z.strictObject({ ...begun, state: z.literal('running'), worker: processIdentitySchema }),
  /** It was stopped: by the end of its worker, of its lease, or by a cancel. */
  z.strictObject({ ...ended, state: z.literal('interrupted') }),
  /** Its command never began, as the machine did not let it; the next command of the lane has it tried again. */
  z.strictObject({
    ...ended,
    state: z.literal('faulted'),
    /** One sentence. */
    reason: z.string(),
  }),
  z.strictObject({
    ...ended,
    state: z.literal('ready'),
    /** Programs that the command left running, and which were ended with it. */
    leftRunning: z.array(z.string()).readonly(),
  }),
  z.strictObject({
    ...ended,
    state: z.literal('failed'),
    /** One sentence. */
    reason: z.string(),
    /** The last lines of its log. */
    logEnd: z.string(),
  }),
]);
export type SetupRecord = z.infer<typeof setupRecordSchema>;
/** What is known of a run from its beginning. */
export type BegunRecord = Omit<Extract<SetupRecord, { state: 'interrupted' }>, 'state' | 'endedAt'>;
export type EndedRecord = Exclude<SetupRecord, { state: 'running' }>;
export type FaultedRecord = Extract<SetupRecord, { state: 'faulted' }>;
export type FailedRecord = Extract<SetupRecord, { state: 'failed' }>;

const fileName = 'setup.json';

/** Where a tree's state folder keeps what concerns the setups of its worktrees. */
export function setupsFolder(stateDir: string): string {
  return join(stateDir, 'setups');
}

/** Where the record and the logs of one worktree are kept. */
export function worktreeFolder(stateDir: string, worktree: string): string {
  return join(setupsFolder(stateDir), worktree);
}

/** Resolves when the record is on disk, in place of the one before. */
export async function writeRecord(folder: string, record: SetupRecord): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const directory = Directory.open(folder);
  try {
    const bytes = Buffer.from(`${JSON.stringify(record)}\n`);
    await writeAtomically(directory, fileName, bytes, { create: 'either', mode: 0o600 });
  } finally {
    directory.close();
  }
}

/** The record of one worktree; one that cannot be read says nothing, and the setup is run again. */
export function readRecord(folder: string): SetupRecord | undefined {
  const file = join(folder, fileName);
  if (!existsSync(file)) return undefined;
  try {
    return setupRecordSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Every worktree of a tree of which something is recorded, by name. */
export function readRecords(stateDir: string): ReadonlyMap<string, SetupRecord> {
  const folder = setupsFolder(stateDir);
  if (!existsSync(folder)) return new Map();
  const records = new Map<string, SetupRecord>();
  for (const name of readdirSync(folder).sort()) {
    if (!worktreeNameSchema.safeParse(name).success) continue;
    const record = readRecord(join(folder, name));
    if (record !== undefined) records.set(name, record);
  }
  return records;
}
