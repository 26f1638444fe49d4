import { randomBytes } from 'node:crypto';
import { listenerDescriptor } from '../network/listener-program.js';
import type { Limits } from './policy.js';

/** The descriptor on which the gate says that it is ready and waits for its word. */
export const gateDescriptor = 3;
/** What the gate says first. */
export const readyWord = 'r';
/** How the gate leaves when it is told anything but to run a command, the end of the line in the middle included. */
export const refusedExit = 125;

/** What lets a command run. */
export interface RunOrder {
  readonly command: string;
  /** Where it starts, relative to where the sandbox does; right there by default. */
  readonly directory?: string | undefined;
}

/** A shell reads lines byte by byte; of more bytes than this, another program's start costs less. */
const longestInLines = 1024;

/**
 * An order in the words of the gate. The lines of a short command are counted, and a long one is followed by a mark of
 * just this order, so that no part of a command can pass for all of it.
 */
export function runOrder({ command, directory = '' }: RunOrder): string {
  // The shell would drop the one and end the directory at the other.
  if (command.includes('\0') || directory.includes('\n')) throw new Error('The gate cannot be told that.');
  if (Buffer.byteLength(command) <= longestInLines)
    return `lines ${command.split('\n').length}\n${directory}\n${command}\n`;
  const mark = randomBytes(16).toString('hex');
  return `marked ${mark}\n${directory}\n${command}\n${mark}`;
}

/**
 * The first program of a sandbox: it says ready, waits for its order, and becomes the command's shell. By the
 * time it speaks the sandbox is bound to the worker's life, so a worker that dies earlier leaves nothing that runs.
 * `listener`, if given, is run first: it hands a listener for the call's proxy to the worker.
 */
export function gateProgram(shell: string, limits: Limits, listener: readonly string[] = []): string[] {
  const refuse = `exit ${refusedExit}`;
  const next = (name: string) => `IFS= read -r ${name} <&${gateDescriptor} || ${refuse}`;
  const inLines = `${next('text')}; while [ "$end" -gt 1 ]; do ${next('line')}; text="$text\n$line"; end=$((end - 1)); done`;
  const untilMark = `text=$(command -p cat <&${gateDescriptor}); case "$text" in *"$end") text="\${text%?"$end"}";; *) ${refuse};; esac`;
  const script = [
    ...(listener.length === 0 ? [] : handOutListener),
    `echo ${readyWord} >&${gateDescriptor}`,
    `IFS=' ' read -r way end <&${gateDescriptor} || ${refuse}`,
    next('directory'),
    `case "$way" in lines) ${inLines};; marked) ${untilMark};; *) ${refuse};; esac`,
    `exec ${gateDescriptor}>&-`,
    `[ -z "$directory" ] || { cd -- "./$directory" && unset OLDPWD; } || ${refuse}`,
    // The shell counts in blocks of 512 bytes.
    `ulimit -c 0; ulimit -f ${Math.ceil(limits.fileBytes / 512)}`,
    // Shells differ in the letter. Root is exempt from this one: its processes are bounded by a control group.
    `ulimit -u ${limits.processes} 2>/dev/null || ulimit -p ${limits.processes} 2>/dev/null`,
    'exec "$0" -c "$text"',
  ].join('; ');
  return ['/bin/sh', '-c', script, shell, ...listener];
}

const handOutListener = [
  `(exec "$@") || exit ${refusedExit}`,
  `exec ${listenerDescriptor}>&-`,
  // By these a Node that the command starts would take the closed descriptor for a channel to its parent.
  'unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE',
];
