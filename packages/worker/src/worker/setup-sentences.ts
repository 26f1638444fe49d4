import { describeLane, limits } from '@codelanes/protocol';
import type { Lane } from '@codelanes/protocol';
import type { FailedRecord, FaultedRecord } from '../setup/setup-record.js';

/** What the first command of a lane is told of a program that its setup left running. */
export function leftRunningNotice(name: string): string {
  return `The setup of this lane left "${name}" running, which was ended with it: start it in the command that needs it.`;
}

/** How many names are told. */
const mostSubmodules = 5;

/** What it is told of submodules that were empty when it began. */
export function emptySubmodulesNotice(empty: readonly string[]): string {
  const names = empty.slice(0, mostSubmodules).map((path) => `"${path}"`);
  const more = empty.length > names.length ? ` and ${empty.length - names.length} more` : '';
  return `Submodules were empty in this worktree when the command began: ${names.join(', ')}${more}. Git in such a folder means the worktree around it. "git submodule update" fills those that the checkout has, where the network leads to their remote.`;
}

/** Why a command is refused whose lane's setup could not begin. */
export function faultText(lane: Lane, { reason }: FaultedRecord): string {
  const text = `The setup of ${describeLane(lane)} could not begin. ${reason} Nothing ran; the next command there has it tried again.`;
  return text.slice(0, limits.errorMessageLength);
}

/** Why a command is refused whose lane's setup has failed. The end of the log goes last, as it is what may be cut off. */
export function failureText(lane: Lane, { reason, logEnd }: FailedRecord): string {
  const where = describeLane(lane);
  const retry = `mend it, then run "codelanes setup retry ${where}" on the worker's machine`;
  const text = `The setup of ${where} failed. ${reason} To go on, ${retry}.`;
  return logEnd === '' ? text : `${text} Its log ends:\n${logEnd}`.slice(0, limits.errorMessageLength);
}
