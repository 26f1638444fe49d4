import { CodelanesError, errorKinds } from '@codelanes/protocol';
import { CliError } from './cli-error.js';

/** What is told of a failure: a line of what, a line of what to do. */
export function errorLines(error: unknown): readonly [what: string, next: string] {
  if (error instanceof CliError) return [error.message, error.next];
  if (CodelanesError.is(error)) return [`${error.message} (${error.code})`, errorKinds[error.code].next];
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
