import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, readSync, watch } from 'node:fs';
import { Server, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { bwrapArguments } from './bwrap-arguments.js';
import { listenerDescriptor } from '../network/listener-program.js';
import { gateDescriptor } from './gate.js';
import { closeInheritedDescriptors } from './inherited-descriptors.js';
import type { Policy } from './policy.js';
import { unnamedFile } from './unnamed-file.js';

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
  /** The listener in the sandbox's own network that it hands out before it speaks; only where its policy has a network. */
  readonly listener?: Promise<Server> | undefined;
  /** The pid of the namespace's init, once bubblewrap has said it. */
  initPid(): number | undefined;
  /** Resolves once `initPid` is known, long before the sandbox is built; not at all where that cannot be watched. */
  readonly initSaid: Promise<void>;
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
    const stdio: ('ignore' | 'pipe' | 'ipc' | number)[] = ['ignore', 'pipe', 'pipe', 'pipe', status];
    const networked = options.policy.network.kind !== 'none';
    if (networked) stdio[listenerDescriptor] = 'ipc';
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
    const listener = networked ? listenerOf(child) : undefined;
    return { ...pipesOf(child), ...statusOf(status), listener };
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

/** The channel is cut as soon as the listener has come: no command ever speaks over it. */
function listenerOf(child: ChildProcess): Promise<Server> {
  const listener = new Promise<Server>((resolve, reject) => {
    child.once('message', (_message, handle) => {
      child.disconnect();
      if (handle instanceof Server) resolve(handle);
      else reject(new Error('The sandbox handed out no listener.'));
    });
    child.once('exit', () => {
      reject(new Error('The sandbox ended before it handed out a listener.'));
    });
  });
  // Whoever starts the sandbox hears of its end in another way.
  listener.catch(() => undefined);
  return listener;
}

function statusOf(status: number): Pick<Spawned, 'initPid' | 'initSaid' | 'closeStatus'> {
  let open = true;
  const initPid = (): number | undefined => {
    if (!open) return undefined;
    const buffer = Buffer.alloc(4096);
    const text = buffer.toString('latin1', 0, readSync(status, buffer, 0, buffer.length, 0));
    const pid = /"child-pid": *([0-9]+)\D/u.exec(text)?.[1];
    return pid === undefined ? undefined : Number(pid);
  };
  const watching = watchUntil(status, () => initPid() !== undefined);
  return {
    initPid,
    initSaid: watching.done,
    closeStatus() {
      watching.stop();
      if (open) closeSync(status);
      open = false;
    },
  };
}

/** Looks at an open file now and whenever it was written to, until there is what was waited for. */
function watchUntil(descriptor: number, isThere: () => boolean): { done: Promise<void>; stop: () => void } {
  let stop = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    const look = (): void => {
      if (!isThere()) return;
      stop();
      resolve();
    };
    try {
      const watcher = watch(`/proc/self/fd/${descriptor}`, look);
      watcher.on('error', () => undefined);
      stop = () => {
        watcher.close();
      };
    } catch {
      // The system has no more watches to give; whoever waits learns of it otherwise.
    }
    look();
  });
  return {
    done,
    stop: () => {
      stop();
    },
  };
}

function descriptorNames(policy: Policy): Set<string> {
  const sources = policy.mounts.flatMap((mount) => ('source' in mount ? [mount.source] : []));
  return new Set(sources.flatMap((source) => (source.from === 'descriptor' ? [source.name] : [])));
}
