import { readFileSync, readdirSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { hostProcesses, type ProcessIdentity } from '../lanes/processes.js';
import { descendantsOf } from './process-tree.js';

/** The processes of a sandbox, held still. */
export interface Frozen {
  /** Whether all of them are held still now: a signal of the kernel's own could have woken one. */
  readonly isStill: () => boolean;
  /** Lets them go on, but for those that had been stopped before. */
  readonly thaw: () => void;
}

/** For how long a sandbox is tried to be held still: until both are over. */
export interface FreezeLimits {
  readonly ms: number;
  /** Where the machine gives nobody any time, the time alone would be over before anybody could have stopped. */
  readonly looks: number;
}

const defaultLimits: FreezeLimits = { ms: 1_000, looks: 100 };
/** Most processes have stopped by then; for the others a look is not worth its time more often than once a millisecond. */
const quickLooks = 10;

/**
 * Stops every process of a sandbox, whatever it forks meanwhile: nothing can catch or ignore this signal. It holds
 * when two looks in a row find nobody new and no thread that could still run. `undefined` where that was not so in
 * time; then everything goes on. Processes that are killed meanwhile count as still.
 *
 * @param init the namespace's first process. Orphans become its children, so the tree beneath it is complete.
 */
export async function freeze(
  init: ProcessIdentity,
  limits: FreezeLimits = defaultLimits,
): Promise<Frozen | undefined> {
  const freezing = new Freezing(init);
  const end = performance.now() + limits.ms;
  let before: Look | undefined;
  for (let looks = 1; looks <= limits.looks || performance.now() < end; looks += 1) {
    const look = freezing.look();
    if (look.isStill && before?.isStill === true && look.blocked === before.blocked) return freezing;
    before = look;
    // A thread in the kernel may end a write that it has begun; one that waits for a frozen child stays there.
    await (look.blocked === '' && looks <= quickLooks ? nextTurn() : sleep(1));
  }
  freezing.thaw();
  return undefined;
}

/**
 * Whether nobody in a sandbox is running or about to: every thread sleeps until something comes from outside, a
 * clock included.
 */
export function isAtRest(init: ProcessIdentity): boolean {
  return [init.pid, ...descendantsOf(init.pid)].every((pid) =>
    threadsOf(pid).every(({ state }) => state !== 'R' && state !== 'D'),
  );
}

interface Look {
  /** Nobody new was found, and no thread can run. */
  readonly isStill: boolean;
  /** The threads that wait in the kernel and cannot be stopped there. */
  readonly blocked: string;
}

class Freezing implements Frozen {
  readonly #init: ProcessIdentity;
  /** Whom to let go on; `undefined` for a process that was stopped already. */
  readonly #stopped = new Map<number, ProcessIdentity | undefined>();

  constructor(init: ProcessIdentity) {
    this.#init = init;
  }

  /** Parents come first, so that none sees its child stop and takes that for an event of its own. */
  look(): Look {
    const members = [this.#init.pid, ...descendantsOf(this.#init.pid)];
    const found = members.filter((pid) => !this.#stopped.has(pid));
    for (const pid of found) this.#stop(pid);
    const threads = members.flatMap((pid) => threadsOf(pid));
    return {
      isStill: found.length === 0 && threads.every(isHeld),
      blocked: threads
        .filter(({ state }) => state === 'D')
        .map(({ id }) => id)
        .join(),
    };
  }

  isStill(): boolean {
    const members = [this.#init.pid, ...descendantsOf(this.#init.pid)];
    return members.every((pid) => this.#stopped.has(pid) && threadsOf(pid).every(isHeld));
  }

  /** Children first, for the same reason. */
  thaw(): void {
    for (const identity of [...this.#stopped.values()].reverse()) {
      if (identity !== undefined && !hostProcesses.isGone(identity)) signal(identity.pid, 'SIGCONT');
    }
    this.#stopped.clear();
  }

  #stop(pid: number): void {
    const identity = hostProcesses.identify(pid);
    const threads = threadsOf(pid);
    const wasStopped = threads.length > 0 && threads.every(({ state }) => state === 'T');
    this.#stopped.set(pid, wasStopped ? undefined : identity);
    if (!wasStopped && identity !== undefined) signal(pid, 'SIGSTOP');
  }
}

interface Thread {
  readonly id: string;
  /** As in `/proc/<pid>/stat`. */
  readonly state: string;
}

/** Stopped, gone, or in the kernel until something ends that is none of the sandbox's doing. */
function isHeld({ state }: Thread): boolean {
  return 'TtZXD'.includes(state);
}

function threadsOf(pid: number): Thread[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((id) => ({ id, state: stateOf(`/proc/${pid}/task/${id}`) }));
  } catch {
    // It has left.
    return [];
  }
}

function stateOf(folder: string): string {
  try {
    const stat = readFileSync(`${folder}/stat`, 'latin1');
    return stat.charAt(stat.lastIndexOf(')') + 2);
  } catch {
    return 'X';
  }
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has left by itself.
  }
}
