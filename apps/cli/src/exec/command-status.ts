import { constants } from 'node:os';
import type { ExecuteCommandResult } from '@codelanes/protocol';
import { exitStatus } from '../errors/cli-error.js';

export interface CommandStatus {
  readonly status: number;
  /** What the status alone does not say. */
  readonly note?: string;
}

/** Signals by number, as shells count a killed program: 128 and the number. */
const signalNumbers = new Map<string, number>(Object.entries(constants.signals));

/** The status with which `exec` ends after a command that ran. */
export function commandStatus({ exitCode, signal, timedOut }: ExecuteCommandResult): CommandStatus {
  if (timedOut) {
    return {
      status: exitStatus.timedOut,
      note: 'The command ran out of time and was stopped; give it more with --timeout.',
    };
  }
  if (signal !== undefined) {
    const number = signalNumbers.get(signal);
    return { status: number === undefined ? 128 : 128 + number, note: `The command was ended by ${signal}.` };
  }
  return { status: exitCode ?? exitStatus.outcomeUnknown };
}
