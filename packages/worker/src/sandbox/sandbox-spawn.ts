import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, readSync, watch } from 'node:fs';
import { Server } from 'node:net';
import { bwrapArguments } from './bwrap-arguments.js';
import { listenerDescriptor } from '../network/listener-program.js';
import { closeInheritedDescriptors } from './inherited-descriptors.js';
import type { Policy } from './policy.js';
import { pipesOf, type SandboxPipes } from './sandbox-pipes.js';
import type { Standby, StandingBy } from './standby.js';
import { encodeOrder, firstHandedDescriptor, type Handed } from './standby-program.js';
import { systemCallFilter } from './system-calls.js';
import { unnamedFile } from './unnamed-file.js';

/** Where bubblewrap writes who it has started. */
const statusDescriptor = 4;

export interface SpawnOptions {
  readonly policy: Policy;
  readonly journalId: string;
  /** What the policy's descriptor sources stand for; the caller keeps them until the sandbox is built, and closes them. */
  readonly descriptors: ReadonlyMap<string, number>;
  readonly program: readonly string[];
  /** Bubblewrap's path; `bwrap` of the system by default. */
  readonly bwrap?: string | undefined;
  /** Processes that were started ahead; without one that is ready, a new one is. */
  readonly standby?: Standby | undefined;
}

/** A spawned sandbox whose gate has not been opened. */
export interface Spawned extends SandboxPipes {
  readonly child: ChildProcess;
  /** The listener in the sandbox's own network that it hands out before it speaks; only where its policy has a network. */
  readonly listener?: Promise<Server> | undefined;
  /** The pid of the namespace's init, once bubblewrap has said it. */
  initPid(): number | undefined;
  /** Resolves once `initPid` is known, long before the sandbox is built; not at all where that cannot be watched. */
  readonly initSaid: Promise<void>;
  /** Closes what only the start needs, when it is over; later `initPid` is undefined. */
  closeStart(): void;
}

let cleaned = false;

/**
 * Spawns bubblewrap with no shell between and nothing inherited. Must be called on the main thread: the
 * sandbox dies with the *thread* that spawned it.
 */
export function spawnSandbox(options: SpawnOptions): Spawned {
  if (!cleaned) closeInheritedDescriptors();
  cleaned = true;
  const networked = options.policy.network.kind !== 'none';
  const handover = handOver(options, firstHandedDescriptor + (networked ? 1 : 0));
  try {
    const words = [
      options.bwrap ?? '/usr/bin/bwrap',
      ...bwrapArguments(options.policy, { ...options, ...handover, statusDescriptor }),
    ];
    // A channel to the sandbox has to be there when its process starts.
    const ready = networked ? undefined : options.standby?.take();
    return ready === undefined
      ? spawnAnew(words, options.policy, handover)
      : become(ready, words, options.policy, handover);
  } catch (error) {
    handover.close();
    throw error;
  }
}

/** What of the worker's descriptors goes to the sandbox's start, and under which numbers. */
interface Handover {
  readonly handed: readonly Handed[];
  readonly descriptors: ReadonlyMap<string, number>;
  /** By the path at which each is mounted. */
  readonly texts: ReadonlyMap<string, number>;
  readonly filter: number | undefined;
  /** Closes what was opened for it. */
  close(): void;
}

function handOver({ policy, descriptors: opened }: SpawnOptions, first: number): Handover {
  const handed: Handed[] = [];
  const give = (each: Handed): number => first + handed.push(each) - 1;
  const close = () => {
    for (const { descriptor, as } of handed) if (as === 'text') closeSync(descriptor);
  };
  const descriptors = new Map<string, number>();
  for (const name of descriptorNames(policy)) {
    const descriptor = opened.get(name);
    if (descriptor !== undefined) descriptors.set(name, give({ descriptor, as: 'place' }));
  }
  try {
    const texts = new Map<string, number>();
    for (const mount of policy.mounts) {
      if (mount.kind === 'text')
        texts.set(mount.path, give({ descriptor: unnamedFile(mount.text), as: 'text' }));
    }
    const program = systemCallFilter({ heldStill: policy.isHeldStill === true });
    const filter = program === undefined ? undefined : give({ descriptor: unnamedFile(program), as: 'text' });
    return { handed, descriptors, texts, filter, close };
  } catch (error) {
    close();
    throw error;
  }
}

function spawnAnew([file = '', ...words]: readonly string[], policy: Policy, handover: Handover): Spawned {
  const networked = policy.network.kind !== 'none';
  // Status goes to a file without a name: on a pipe, a dead worker would leave the sandbox waiting for ever.
  const status = unnamedFile('');
  const stdio: ('ignore' | 'pipe' | 'ipc' | number)[] = ['ignore', 'pipe', 'pipe', 'pipe', status];
  if (networked) stdio[listenerDescriptor] = 'ipc';
  stdio.push(...handover.handed.map(({ descriptor }) => descriptor));
  try {
    const child = spawn(file, words, { stdio, env: { ...policy.environment }, shell: false });
    // Whoever waits for its exit hears of it; what was given no pipes is not waited for.
    child.on('error', () => undefined);
    const listener = networked ? listenerOf(child) : undefined;
    return { child, ...pipesOf(child), ...startOf(status, handover), listener };
  } catch (error) {
    closeSync(status);
    throw error;
  }
}

/** Orders a process that stands by to become the sandbox. */
function become(
  { status, ...ready }: StandingBy,
  words: readonly string[],
  policy: Policy,
  handover: Handover,
): Spawned {
  ready.gate.write(encodeOrder({ words, environment: policy.environment, handed: handover.handed }));
  return { ...ready, ...startOf(status, handover) };
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

function startOf(status: number, handover: Handover): Pick<Spawned, 'initPid' | 'initSaid' | 'closeStart'> {
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
    closeStart() {
      watching.stop();
      if (!open) return;
      open = false;
      closeSync(status);
      handover.close();
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
