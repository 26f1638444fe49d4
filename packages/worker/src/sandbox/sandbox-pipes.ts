import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { CodelanesError } from '@codelanes/protocol';
import { gateDescriptor } from './gate.js';

/** The worker's ends of a sandbox's pipes. */
export interface SandboxPipes {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly gate: Socket;
}

/** A process that could not be given descriptors has not even what its type says. */
type MaybeStarted = Partial<Pick<ChildProcess, 'stdout' | 'stderr' | 'stdio'>>;

/**
 * The pipes of a process that was spawned with them as its second to fourth descriptor.
 *
 * @throws {CodelanesError} `COMMAND_UNAVAILABLE` where there are none.
 */
export function pipesOf({ stdout, stderr, stdio }: MaybeStarted): SandboxPipes {
  const gate = stdio?.[gateDescriptor];
  if (!stdout || !stderr || !(gate instanceof Socket)) {
    throw new CodelanesError(
      'COMMAND_UNAVAILABLE',
      'No pipes could be made for the sandbox, so the command was not started: the worker may open no more files, of which its operator can allow more (ulimit -n).',
    );
  }
  return { stdout, stderr, gate };
}
