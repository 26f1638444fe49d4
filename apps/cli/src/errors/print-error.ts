import { CodelanesError, errorKinds } from '@codelanes/protocol';
import { CliError } from './cli-error.js';

/** What is told of a failure: a line of what, a line of what to do. */
export function errorLines(error: unknown): readonly [what: string, next: string] {
  if (error instanceof CliError) return [error.message, error.next];
  if (CodelanesError.is(error)) return [`${error.message} (${error.code})`, errorKinds[error.code].next];
  if (isStartRefusal(error)) return [error.message, 'Nothing was started; mend that and start again.'];
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [
    `A fault in codelanes itself: ${text}`,
    'Report this with what you did; nothing else is known about it.',
  ];
}

/** The one place where failures are printed. */
export function printError(error: unknown, print: (line: string) => void = console.error): void {
  const [what, next] = errorLines(error);
  print(`codelanes: ${what}`);
  print(`  ${next}`);
}

/** What bridge and worker throw where they cannot start as they were told to; each message says what to do. */
const startRefusals = new Set(['OptionsError', 'RootError', 'DefinitionError', 'WorkerRefused']);

function isStartRefusal(error: unknown): error is Error {
  return error instanceof Error && startRefusals.has(error.name);
}
