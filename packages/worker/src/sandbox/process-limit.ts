import { mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A bound on the processes of this worker and of all that it starts. */
export interface ProcessLimit {
  /** The control group's folder; it is empty, and may be removed, when everything in it has ended. */
  readonly group: string;
}

/**
 * Bounds how many processes and threads a process of this machine and its descendants may be together. Root
 * needs a control group for that, since the kernel exempts it from the limit that the gate sets for others. It is
 * one group for a whole worker: moving every command into a group of its own takes the kernel some 10 ms.
 * `undefined` where this process may make no group with the pids controller.
 */
export function limitProcesses(pid: number, most: number): ProcessLimit | undefined {
  for (const hierarchy of hierarchies()) {
    const folder = join(hierarchy, 'codelanes');
    const group = join(folder, String(pid));
    try {
      mkdirSync(folder, { recursive: true });
      removeEmpty(folder);
      handOn(folder);
      mkdirSync(group);
      writeFileSync(join(group, 'pids.max'), String(most));
      writeFileSync(join(group, 'cgroup.procs'), String(pid));
      return { group };
    } catch {
      remove(group);
    }
  }
  return undefined;
}

/** Mounted hierarchies that may have the pids controller: version 1 first, which has one of its own. */
function hierarchies(): string[] {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const first = mounts.filter(
    ([, , type, options = '']) => type === 'cgroup' && options.split(',').includes('pids'),
  );
  const second = mounts.filter(([, , type]) => type === 'cgroup2');
  return [...first, ...second].map(([, path = '']) => path);
}

/** Version 2 hands a controller on to children only when it is told to. */
function handOn(folder: string): void {
  if (readdirSync(folder).includes('cgroup.subtree_control')) {
    writeFileSync(join(folder, 'cgroup.subtree_control'), '+pids');
  }
}

/** What earlier workers left. */
function removeEmpty(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) remove(join(folder, entry.name));
  }
}

/** A group that still has members stays. */
function remove(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // Not there, or not empty.
  }
}
