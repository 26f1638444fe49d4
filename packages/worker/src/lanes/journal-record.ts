import { callIdSchema } from '@codelanes/protocol';
import { z } from 'zod';
import { processIdentitySchema } from './processes.js';

const lane = z.array(z.string()).min(1).readonly();
/** Milliseconds since 1970. */
const at = z.int().nonnegative();

/** A command is about to start in a sandbox whose init is this process. */
const commandRecord = z.strictObject({
  kind: z.literal('command'),
  call: callIdSchema,
  lane,
  process: processIdentitySchema,
  at,
});
/** A file tool is about to write; `temporary` is what a crash may leave beside the path. */
const writeRecord = z.strictObject({
  kind: z.literal('write'),
  call: callIdSchema,
  lane,
  path: z.string(),
  temporary: z.string(),
  at,
});
/** The call has ended; nothing of it runs. After compaction this is all that is kept of it. */
const endRecord = z.strictObject({ kind: z.literal('end'), call: callIdSchema, at });

export const journalRecordSchema = z.discriminatedUnion('kind', [commandRecord, writeRecord, endRecord]);
export type JournalRecord = z.infer<typeof journalRecordSchema>;
export type CommandRecord = z.infer<typeof commandRecord>;
export type WriteRecord = z.infer<typeof writeRecord>;
export type StartRecord = CommandRecord | WriteRecord;

/** A journal that says less than it did: starting on it could run a call twice. */
export class JournalDamaged extends Error {
  override readonly name = 'JournalDamaged';
}

/**
 * Reads a journal. What a crash left of lines that were not yet synced is dropped: nothing was done on their
 * word. A broken line before a whole one is damage of another kind.
 *
 * @throws {JournalDamaged}
 */
export function parseJournal(text: string, file: string): JournalRecord[] {
  const lines = text.split('\n');
  // The last line is whole only with its newline.
  lines.pop();
  const records = lines.map(parseLine);
  const broken = records.indexOf(undefined);
  const whole = records.filter((record) => record !== undefined);
  if (broken !== -1 && whole.length > broken) {
    throw new JournalDamaged(
      `The journal "${file}" is damaged in line ${broken + 1}: make sure that nothing of an earlier worker runs, then move it away.`,
    );
  }
  return whole;
}

function parseLine(line: string): JournalRecord | undefined {
  try {
    return journalRecordSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
