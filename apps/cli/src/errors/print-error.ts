import type { ErrorCode } from '@codelanes/protocol';
import { CodelanesError, errorKinds } from '@codelanes/protocol';
import { NoAnswer } from '../client/failures.js';
import { CliError } from './cli-error.js';
import { plainText } from '../terminal/plain-text.js';

/** What is told of a failure: a line of what, a line of what to do. */
export function errorLines(error: unknown): readonly [what: string, next: string] {
  if (error instanceof CliError) return [error.message, error.next];
  if (error instanceof NoAnswer) return [error.message, nextWithoutAnswer];
  if (CodelanesError.is(error)) {
    return [`${error.message} (${error.code})`, nextByCode[error.code] ?? errorKinds[error.code].next];
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [
    `A fault in codelanes itself: ${text}`,
    'Report this with what you did; nothing else is known about it.',
  ];
}

const nextWithoutAnswer =
  'Start it with "codelanes up" where it was stopped, or see why it cannot be reached; then ask again.';

/** Where the protocol speaks to a program, a person at the command line is told the flag. */
const nextByCode: Readonly<Partial<Record<ErrorCode, string>>> = {
  UNAUTHENTICATED:
    'Name the file of a token of this bridge with --token-file; it keeps them in "tokens" of its state folder.',
  FORBIDDEN:
    'Name the file of the other token with --token-file: "exec" takes the one for callers, all else the one for admin.',
  WORKER_MISMATCH:
    'Nothing ran. Mend what is missing, or name by --workspace, --repository and --worktree what the worker serves; what it said at its start tells why it has no lanes there.',
  WORKSPACE_QUEUE_TIMEOUT:
    'Nothing ran. See what is in the way with "codelanes lanes", or be more patient with --queue-wait.',
  EXECUTION_ABORTED: 'What it had already changed stays.',
  ROUTE_NOT_FOUND: 'Name the bridge by --url without a path, and use the same version on both sides.',
};

/** The one place where failures are printed. */
export function printError(error: unknown, print: (line: string) => void = console.error): void {
  const [what, next] = errorLines(error);
  print(plainText(`codelanes: ${what}`));
  print(plainText(`  ${next}`));
}
