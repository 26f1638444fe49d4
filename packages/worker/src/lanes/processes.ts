import { readFileSync, readdirSync } from 'node:fs';
import { z } from 'zod';

/**
 * One process for as long as the machine runs: a pid alone is used again, pid and start time of one boot are
 * not. `startTime` is field 22 of `/proc/<pid>/stat`, in clock ticks since boot.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: number;
  readonly bootId: string;
}

export const processIdentitySchema = z.strictObject({
  pid: z.int().positive(),
  startTime: z.int().nonnegative(),
  bootId: z.string().min(1),
});

/** What recovery and quarantine need to know and do; tests hand in a table of their own. */
export interface ProcessTable {
  /** The kernel's random id of this boot. */
  bootId(): string;
  /** Who has this pid now, or `undefined` where nobody has. */
  identify(pid: number): ProcessIdentity | undefined;
  /**
   * Whether a process has ended: missing, a zombie without threads, another start time, or another boot. Of
   * the init of a pid namespace it says that every member is gone too: the kernel reaps them first.
   */
  isGone(identity: ProcessIdentity): boolean;
  /** Sends SIGKILL if that very process still runs; what may not be signalled is left to `isGone`. */
  kill(identity: ProcessIdentity): void;
  /** The live processes whose argument list holds these words next to each other, the caller's own excepted. */
  withArguments(words: readonly string[]): ProcessIdentity[];
}

/** The processes of this machine, by `/proc`. Linux only. */
export const hostProcesses: ProcessTable = {
  bootId: readBootId,
  identify(pid) {
    const stat = readStat(pid);
    return stat === undefined ? undefined : { pid, startTime: stat.startTime, bootId: readBootId() };
  },
  isGone(identity) {
    if (identity.bootId !== readBootId()) return true;
    const stat = readStat(identity.pid);
    return stat === undefined || stat.ended || stat.startTime !== identity.startTime;
  },
  kill(identity) {
    if (hostProcesses.isGone(identity)) return;
    try {
      process.kill(identity.pid, 'SIGKILL');
    } catch (error) {
      if (!hasCode(error, 'ESRCH', 'EPERM')) throw error;
    }
  },
  withArguments(words) {
    return readdirSync('/proc')
      .filter((name) => /^[0-9]+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== process.pid && argumentsHold(pid, words))
      .map((pid) => hostProcesses.identify(pid))
      .filter((identity) => identity !== undefined)
      .filter((identity) => !hostProcesses.isGone(identity));
  },
};

export interface WaitOptions {
  /** Longest wait in milliseconds. */
  readonly timeoutMs: number;
  /** Time between two looks in milliseconds; 2 by default. */
  readonly intervalMs?: number | undefined;
}

/** Waits until a process is gone; `false` when it still was there at the end of the wait. */
export async function waitUntilGone(
  processes: Pick<ProcessTable, 'isGone'>,
  identity: ProcessIdentity,
  { timeoutMs, intervalMs = 2 }: WaitOptions,
): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  while (!processes.isGone(identity)) {
    if (performance.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
  return true;
}

let knownBootId: string | undefined;

function readBootId(): string {
  knownBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return knownBootId;
}

interface Stat {
  readonly startTime: number;
  readonly ended: boolean;
}

function readStat(pid: number): Stat | undefined {
  const text = readProcess(pid, 'stat');
  if (text === undefined) return undefined;
  // The command's name stands in parentheses and may itself hold spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const threads = Number(fields[17]);
  const startTime = Number(fields[19]);
  if (state === undefined || !Number.isSafeInteger(startTime)) {
    throw new Error(`/proc/${pid}/stat cannot be read: report this with the kernel's version.`);
  }
  // A leader that left while other threads run is a zombie too, but its process lives on.
  return { startTime, ended: state === 'X' || (state === 'Z' && threads <= 1) };
}

function argumentsHold(pid: number, words: readonly string[]): boolean {
  const text = readProcess(pid, 'cmdline') ?? '';
  return `\0${text}`.includes(`\0${words.join('\0')}\0`);
}

function readProcess(pid: number, file: 'stat' | 'cmdline'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch (error) {
    // Only absence means gone: a refusal to show the process must never be read as its end.
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
