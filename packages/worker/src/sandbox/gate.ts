import { listenerDescriptor } from '../network/listener-program.js';
import type { Limits } from './policy.js';

/** The descriptor on which the gate says that it is ready and waits for its word. */
export const gateDescriptor = 3;
/** What the gate says first. */
export const readyWord = 'r';
/** What lets the command run. Anything else, the end of the line included, makes the gate leave with `refusedExit`. */
export const runWord = 'run\n';
export const refusedExit = 125;

/**
 * The first program of a sandbox: it says ready, waits for the word, and becomes the command's shell. By the
 * time it speaks the sandbox is bound to the worker's life, so a worker that dies earlier leaves nothing that runs.
 * `listener`, if given, is run first: it hands a listener for the call's proxy to the worker.
 */
export function gateProgram(
  shell: string,
  command: string,
  limits: Limits,
  listener: readonly string[] = [],
): string[] {
  const script = [
    ...(listener.length === 0 ? [] : handOutListener),
    `echo ${readyWord} >&${gateDescriptor}`,
    `IFS= read -r word <&${gateDescriptor} && [ "$word" = run ] || exit ${refusedExit}`,
    `exec ${gateDescriptor}>&-`,
    // The shell counts in blocks of 512 bytes.
    `ulimit -c 0; ulimit -f ${Math.ceil(limits.fileBytes / 512)}`,
    // Shells differ in the letter. Root is exempt from this one: its processes are bounded by a control group.
    `ulimit -u ${limits.processes} 2>/dev/null || ulimit -p ${limits.processes} 2>/dev/null`,
    'exec "$1" -c "$0"',
  ].join('; ');
  return ['/bin/sh', '-c', script, command, shell, ...listener];
}

const handOutListener = [
  `(shift; exec "$@") || exit ${refusedExit}`,
  `exec ${listenerDescriptor}>&-`,
  // By these a Node that the command starts would take the closed descriptor for a channel to its parent.
  'unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE',
];
