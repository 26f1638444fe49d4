import { readFileSync, readdirSync } from 'node:fs';

/** The processes that a process has started and that still run, with their command lines. */
export function childrenOf(pid: number): { readonly pid: number; readonly words: readonly string[] }[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
    .filter((child) => child.trim() !== '')
    .map((child) => ({
      pid: Number(child),
      words: readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0').slice(0, -1),
    }));
}
