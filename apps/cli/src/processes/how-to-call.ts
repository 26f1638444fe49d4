import { shellLine } from '../exec/shell-line.js';

export interface Served {
  readonly url: string;
  readonly workspaces: readonly string[];
  readonly connectionFile: string;
  readonly callerTokenFile: string;
  /** The state folder, where it is another than the one in which the other commands look by themselves. */
  readonly state?: string | undefined;
}

/** What `codelanes up` tells once everything serves. Its commands can be run as they stand, in any folder. */
export function howToCall({ url, workspaces, connectionFile, callerTokenFile, state }: Served): string {
  const [first = 'WORKSPACE'] = workspaces;
  const workspace = workspaces.length > 1 ? ['--workspace', first] : [];
  const where = state === undefined ? [] : ['--state', state];
  return [
    `Serving ${workspaces.join(', ')} at ${url}. Ctrl-C stops.`,
    '',
    'From another terminal:',
    ...aligned([
      [['exec', ...where, ...workspace, '--', 'git', 'status'], 'a command on the whole checkout'],
      [
        ['exec', ...where, ...workspace, '--worktree', 'a', '--', 'npm', 'test'],
        'one in the lane of .worktrees/a',
      ],
      [['lanes', ...where], 'what runs, what waits, and why'],
    ]),
    '',
    'From a program (LibreChat: this as the baseURL of its environment):',
    `  ${url}/v1, bearer token in ${callerTokenFile}`,
    `These facts are kept in ${connectionFile}.`,
  ].join('\n');
}

function aligned(rows: readonly (readonly [words: readonly string[], meaning: string])[]): string[] {
  const lines = rows.map(([words, meaning]) => [shellLine(['codelanes', ...words]), meaning] as const);
  const width = Math.max(...lines.map(([line]) => line.length));
  return lines.map(([line, meaning]) => `  ${line.padEnd(width)}   ${meaning}`);
}
