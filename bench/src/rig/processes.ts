import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** The kernel counts processor time for `/proc` in this many ticks a second on every machine that Node runs on. */
const ticksPerSecond = 100;

export function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}

/** Milliseconds of processor time that a process has had, in user and kernel mode, all threads together. */
export function processorMs(pid: number): number {
  const fields = statFields(pid);
  if (fields === undefined) throw new Error(`Process ${pid} has gone while it was measured.`);
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/** Whether a process runs no more; a zombie that nobody has collected does not. */
export function isGone(pid: number): boolean {
  const state = statFields(pid)?.[0];
  return state === undefined || state === 'Z' || state === 'X';
}

/** Every process in the pid namespace of the first one whose command line holds the word. */
export function namespaceMembers(word: string): number[] {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const namespaces = new Map(pids.map((pid) => [pid, namespaceOf(pid)]));
  const own = namespaceOf(process.pid);
  const [named] = pids.filter((pid) => namespaces.get(pid) !== own && commandLine(pid).includes(word));
  const namespace = named === undefined ? undefined : namespaces.get(named);
  return namespace === undefined ? [] : pids.filter((pid) => namespaces.get(pid) === namespace);
}

function namespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** The fields of `stat` from the state on: those before it may hold spaces. */
function statFields(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
