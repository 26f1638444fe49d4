import type { ExecuteCommandResult } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import { commandStatus } from './command-status.js';

const result: ExecuteCommandResult = {
  protocolVersion: 1,
  workspaceId: 'w',
  operation: 'execute_command',
  exitCode: 0,
  stdout: '',
  stderr: '',
  truncated: false,
  timedOut: false,
};

describe('commandStatus', () => {
  it("is the command's own", () => {
    expect(commandStatus({ ...result, exitCode: 7 })).toEqual({ status: 7 });
  });

  it('is 124 with a sentence where the command ran out of time, however it ended then', () => {
    const ended = commandStatus({ ...result, exitCode: null, signal: 'SIGKILL', timedOut: true });
    expect(ended.status).toBe(124);
    expect(ended.note).toContain('--timeout');
  });

  it('is 128 and the number of the signal that ended it', () => {
    expect(commandStatus({ ...result, exitCode: null, signal: 'SIGTERM' }).status).toBe(143);
    expect(commandStatus({ ...result, exitCode: null, signal: 'SIGKILL' }).status).toBe(137);
  });
});
