import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { bwrapArguments } from './bwrap-arguments.js';
import { gateDescriptor } from './gate.js';
import { closeInheritedDescriptors } from './inherited-descriptors.js';
import type { Policy } from './policy.js';

export interface SpawnOptions {
  readonly policy: Policy;
  readonly journalId: string;
  /** What the policy's descriptor sources stand for; the caller keeps and closes them. */
  readonly descriptors: ReadonlyMap<string, number>;
  readonly program: readonly string[];
  /** Bubblewrap's path; `bwrap` of the system by default. */
  readonly bwrap?: string | undefined;
}

/** A spawned sandbox whose gate has not been opened. */
export interface Spawned {
  readonly child: ChildProcess;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly gate: Socket;
  /** The pid of the namespace's init, once bubblewrap has said it. */
  initPid(): number | undefined;
  /** Closes the status file; later `initPid` is undefined. */
  closeStatus(): void;
}

let cleaned = false;

/**
 * Spawns bubblewrap with no shell between and nothing inherited. Must be called on the main thread: the
 * sandbox dies with the *thread* that spawned it.
 */
export function spawnSandbox(options: SpawnOptions): Spawned {
  if (!cleaned) closeInheritedDescriptors();
  cleaned = true;
  const opened: number[] = [];
  // Status goes to a file without a name: on a pipe, a dead worker would leave the sandbox waiting for ever.
  const status = unnamedFile('');
  try {
    const stdio: ('ignore' | 'pipe' | number)[] = ['ignore', 'pipe', 'pipe', 'pipe', status];
    const handOver = (descriptor: number): number => stdio.push(descriptor) - 1;
    const descriptors = new Map<string, number>();
    for (const name of descriptorNames(options.policy)) {
      const descriptor = options.descriptors.get(name);
      if (descriptor !== undefined) descriptors.set(name, handOver(descriptor));
    }
    const texts = new Map<string, number>();
    for (const mount of options.policy.mounts) {
      if (mount.kind !== 'text') continue;
      const descriptor = unnamedFile(mount.text);
      opened.push(descriptor);
      texts.set(mount.path, handOver(descriptor));
    }
    const { policy, journalId, program } = options;
    const words = bwrapArguments(policy, { journalId, descriptors, texts, statusDescriptor: 4, program });
    const child = spawn(options.bwrap ?? '/usr/bin/bwrap', words, {
      stdio,
      env: { ...policy.environment },
      shell: false,
    });
    return { ...pipesOf(child), ...statusOf(status) };
  } catch (error) {
    closeSync(status);
    throw error;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function pipesOf(child: ChildProcess): Pick<Spawned, 'child' | 'stdout' | 'stderr' | 'gate'> {
  const { stdout, stderr } = child;
  const gate = child.stdio[gateDescriptor];
  if (stdout === null || stderr === null || !(gate instanceof Socket)) {
    throw new Error('Node gave no pipes to the sandbox.');
  }
  return { child, stdout, stderr, gate };
}

function statusOf(status: number): Pick<Spawned, 'initPid' | 'closeStatus'> {
  let open = true;
  return {
    initPid() {
      if (!open) return undefined;
      const buffer = Buffer.alloc(4096);
      const text = buffer.toString('latin1', 0, readSync(status, buffer, 0, buffer.length, 0));
      const pid = /"child-pid": *([0-9]+)\D/u.exec(text)?.[1];
      return pid === undefined ? undefined : Number(pid);
    },
    closeStatus() {
      if (open) closeSync(status);
      open = false;
    },
  };
}

function descriptorNames(policy: Policy): Set<string> {
  const sources = policy.mounts.flatMap((mount) => ('source' in mount ? [mount.source] : []));
  return new Set(sources.flatMap((source) => (source.from === 'descriptor' ? [source.name] : [])));
}

/** An open file that has this text and no name, positioned at its start. */
function unnamedFile(text: string): number {
  const path = join(tmpdir(), `codelanes-${randomBytes(12).toString('hex')}`);
  const descriptor = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  // With an explicit position the descriptor's own offset stays at the start, where bubblewrap reads.
  if (text !== '') writeSync(descriptor, Buffer.from(text), 0, null, 0);
  return descriptor;
}
