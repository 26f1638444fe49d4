import type { Lane } from '@codelanes/protocol';
import type { Journal } from './journal.js';
import type { CommandRecord, WriteRecord } from './journal-record.js';
import { waitUntilGone, type ProcessIdentity, type ProcessTable } from './processes.js';
import type { Quarantine } from './quarantine.js';

/** Every sandbox has these words in its argument list, followed by the id of its journal. */
export const journalMark = ['--setenv', 'CODELANES_JOURNAL'] as const;

export interface RecoveryOptions {
  readonly journal: Journal;
  readonly quarantine: Quarantine;
  readonly processes: ProcessTable;
  /** The lane of the root that the journal belongs to. */
  readonly rootLane: Lane;
  /** How long a killed process may take to be gone, in milliseconds. */
  readonly goneWithinMs: number;
}

export interface Recovered {
  /** Commands that an earlier worker had started; their outcome is unknown. Nothing of the ones not quarantined runs. */
  readonly commands: readonly CommandRecord[];
  /** Writes that had begun; each was done or not, and its temporary file may be left. They stay open until `journal.end`. */
  readonly writes: readonly WriteRecord[];
  /** Processes that bore the journal's id and had no record: they never ran a command. */
  readonly leftOvers: readonly ProcessIdentity[];
  readonly quarantined: readonly (readonly string[])[];
}

/**
 * What the new holder of a root's lock does first: kills what an earlier worker left, and knows that it is
 * gone. What it cannot prove gone quarantines the lane of its call.
 */
export async function recover(options: RecoveryOptions): Promise<Recovered> {
  const { journal } = options;
  const entries = journal.openEntries();
  const commands = entries.filter((entry) => entry.kind === 'command');
  const writes = entries.filter((entry) => entry.kind === 'write');
  const stuck = await Promise.all(commands.map((command) => recoverCommand(command, options)));
  const { leftOvers, lanes } = await killLeftOvers(options);
  return { commands, writes, leftOvers, quarantined: [...stuck.flat(), ...lanes] };
}

async function recoverCommand(
  { call, lane, process }: CommandRecord,
  { journal, quarantine, processes, goneWithinMs }: RecoveryOptions,
): Promise<(readonly string[])[]> {
  processes.kill(process);
  const gone = await waitUntilGone(processes, process, { timeoutMs: goneWithinMs });
  if (!gone) {
    await quarantine.add(
      lane,
      `Process ${process.pid} of call ${call}, which an earlier worker had started, could not be shown to be gone.`,
      [process],
    );
  }
  // From here on the quarantine remembers it.
  await journal.end(call);
  return gone ? [] : [lane];
}

async function killLeftOvers(
  options: RecoveryOptions,
): Promise<{ leftOvers: ProcessIdentity[]; lanes: Lane[] }> {
  const { journal, quarantine, processes, rootLane } = options;
  const leftOvers = new Map<number, ProcessIdentity>();
  let stuck: ProcessIdentity[] = [];
  // What is just being forked shows up in the next pass only: the last pass is one that finds nothing new.
  for (;;) {
    const found = processes
      .withArguments([...journalMark, journal.id])
      .filter(({ pid, startTime }) => leftOvers.get(pid)?.startTime !== startTime);
    if (found.length === 0) break;
    for (const one of found) leftOvers.set(one.pid, one);
    stuck = [...stuck, ...(await killAll(found, options))];
  }
  const all = [...leftOvers.values()];
  if (stuck.length === 0) return { leftOvers: all, lanes: [] };
  await quarantine.add(
    rootLane,
    'Sandboxes that an earlier worker had prepared could not be shown to be gone.',
    stuck,
  );
  return { leftOvers: all, lanes: [rootLane] };
}

/** Kills processes and returns those that were still there at the end of the wait. */
async function killAll(
  found: readonly ProcessIdentity[],
  { processes, goneWithinMs }: RecoveryOptions,
): Promise<ProcessIdentity[]> {
  for (const one of found) processes.kill(one);
  const gone = await Promise.all(
    found.map((one) => waitUntilGone(processes, one, { timeoutMs: goneWithinMs })),
  );
  return found.filter((_, index) => gone[index] === false);
}
