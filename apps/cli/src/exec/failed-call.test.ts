import type { CallState } from '@codelanes/protocol';
import { CodelanesError } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import { NoAnswer, Refusal } from '../client/failures.js';
import { LostCall } from '../client/run-call.js';
import { CliError, exitStatus } from '../errors/cli-error.js';
import { failedCall } from './failed-call.js';

const gone = new NoAnswer('The bridge at http://b ended the connection before it answered.', true);

function lostIn(state: CallState) {
  return failedCall(
    new LostCall(gone, { callId: '0'.repeat(32), state, lane: ['app'], sinceMs: 5, revision: 2 }),
  );
}

describe('failedCall', () => {
  it('says that nothing ran where no bridge was reached', () => {
    const failed = failedCall(new NoAnswer('The bridge at http://b cannot be reached.', false));
    expect(failed).toMatchObject({ status: exitStatus.nothingRan });
    expect(failed.what).toContain('Nothing ran.');
  });

  it('never claims an outcome that it did not see: a lost call is unknown, with what was last seen', () => {
    expect(lostIn('running').status).toBe(exitStatus.outcomeUnknown);
    expect(lostIn('running').what).toContain('was running');
    expect(lostIn('waiting').what).toContain('waiting');
    expect(lostIn('settled').what).toContain('result was lost');
    expect(lostIn('running').next).toContain('not run again by itself');
    expect(failedCall(new LostCall(gone, undefined)).what).toContain('not known');
  });

  it('says what a call that timed out in the queue waited for', () => {
    const failed = failedCall(
      new Refusal('WORKSPACE_QUEUE_TIMEOUT', 'The call did not start.', {
        waitedFor: {
          position: 1,
          blockers: [{ lane: ['app', 'worktree:a'], state: 'running', ageMs: 12_000 }],
        },
      }),
    );
    expect(failed.status).toBe(exitStatus.nothingRan);
    expect(failed.what).toBe(
      'The call did not start in time: it waited behind the call running in app/.worktrees/a for 12 s (place 1 in the queue). (WORKSPACE_QUEUE_TIMEOUT)',
    );
    expect(failed.next).toContain('--queue-wait');
  });

  it.each([
    ['WORKER_MISMATCH', exitStatus.nothingRan],
    ['ASSIGNMENT_EXPIRED', exitStatus.outcomeUnknown],
    ['RESULT_INVALID', exitStatus.outcomeUnknown],
    ['CALL_CANCELLED', exitStatus.cancelled],
    ['EXECUTION_ABORTED', exitStatus.cancelled],
    ['COMMAND_TIMEOUT', exitStatus.timedOut],
  ] as const)('ends with its own status for %s', (code, status) => {
    expect(failedCall(new CodelanesError(code, 'What happened.'))).toMatchObject({ status });
  });

  it('passes on what a failure of the command line itself says to do', () => {
    expect(failedCall(new CliError('What.', 'Do this.'))).toEqual({
      status: exitStatus.nothingRan,
      what: 'What.',
      next: 'Do this.',
    });
  });
});
