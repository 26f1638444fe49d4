import { randomBytes } from 'node:crypto';

/** A command that says, when it is over, what it left running in its sandbox. */
export interface WatchedCommand {
  readonly command: string;
  /** Takes what was said out of the end of the command's standard error. */
  read(stderr: string): readonly string[];
}

/** How many names are told. */
const most = 10;

/**
 * Puts a command into a shell of its own, after what comes before it in this one, and looks around when it is over. The
 * sandbox holds nothing but its first process, this shell and what the command started; all of that ends with it.
 */
export function watchLeftRunning(
  command: string,
  { shell, before }: { readonly shell: string; readonly before: string },
): WatchedCommand {
  const mark = `codelanes: still running at the end (${randomBytes(4).toString('hex')}):`;
  // Of the shell alone, as a program that it started would be found too.
  const script = [
    'look() {',
    '  left=',
    '  for each in /proc/[0-9]*; do',
    '    pid=${each#/proc/}',
    '    if [ "$pid" != 1 ] && [ "$pid" != $$ ] && read -r stat 2>/dev/null < "$each/stat"; then',
    '      name=${stat#*\\(}; name=${name%\\)*}; state=${stat##*\\) }',
    `      case $state in Z*|X*) ;; *) left="\${left}${mark} $name`,
    '" ;; esac',
    '    fi',
    '  done',
    '}',
    before,
    `${quoted(shell)} -c ${quoted(command)}`,
    'status=$?',
    'look',
    // What is just leaving is given the time for it.
    `if [ -n "$left" ]; then sleep 0.5; look; printf '%s' "$left" >&2; fi`,
    'exit "$status"',
  ].join('\n');
  return {
    command: script,
    read: (stderr) =>
      stderr
        .split('\n')
        .flatMap((line) => (line.startsWith(`${mark} `) ? [line.slice(mark.length + 1)] : []))
        .slice(0, most),
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
