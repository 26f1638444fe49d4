import { CodelanesError } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import { NoAnswer } from '../client/failures.js';
import { CliError } from './cli-error.js';
import { errorLines, printError } from './print-error.js';

describe('errorLines', () => {
  it('takes a bridge that is not there for no fault of its own, and says how to start one', () => {
    const [what, next] = errorLines(new NoAnswer('The bridge at http://b cannot be reached.', false));
    expect(what).toBe('The bridge at http://b cannot be reached.');
    expect(next).toContain('codelanes up');
  });

  it.each(['UNAUTHENTICATED', 'FORBIDDEN', 'WORKER_MISMATCH', 'ROUTE_NOT_FOUND'] as const)(
    'names a flag for %s, where the protocol speaks of requests',
    (code) => {
      const [what, next] = errorLines(new CodelanesError(code, 'What happened.'));
      expect(what).toBe(`What happened. (${code})`);
      expect(next).toMatch(/--(?:token-file|url|worktree)/);
    },
  );

  it('shows where a fault of its own came from', () => {
    expect(errorLines(new TypeError('x is no function'))[0]).toMatch(
      /fault in codelanes itself: TypeError: x is no function\n\s+at/,
    );
  });
});

it('is printed as what happened, and beneath it what to do', () => {
  const lines: string[] = [];
  printError(new CliError('No bridge is known.', 'Start one.'), (line) => lines.push(line));
  expect(lines).toEqual(['codelanes: No bridge is known.', '  Start one.']);
});
