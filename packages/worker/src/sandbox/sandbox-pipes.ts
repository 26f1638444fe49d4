import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { gateDescriptor } from './gate.js';

/** The worker's ends of a sandbox's pipes. */
export interface SandboxPipes {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly gate: Socket;
}

/** The pipes of a process that was spawned with them as its second to fourth descriptor. */
export function pipesOf(child: ChildProcess): SandboxPipes {
  const { stdout, stderr } = child;
  const gate = child.stdio[gateDescriptor];
  if (stdout === null || stderr === null || !(gate instanceof Socket)) {
    throw new Error('Node gave no pipes to the sandbox.');
  }
  return { stdout, stderr, gate };
}
