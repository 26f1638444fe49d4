import { shellLine } from '../exec/shell-line.js';
import type { LanesOfWorkspace } from './ready-channel.js';

export interface Served {
  readonly url: string;
  readonly workspaces: readonly string[];
  /** Of the first workspace. */
  readonly lanes: LanesOfWorkspace;
  readonly connectionFile: string;
  readonly callerTokenFile: string;
  /** The state folder, where it is another than the one in which the other commands look by themselves. */
  readonly state?: string | undefined;
}

/** What `codelanes up` tells once everything serves. Its commands can be run as they stand, in any folder. */
export function howToCall(served: Served): string {
  const { url, workspaces, connectionFile, callerTokenFile, state } = served;
  const where = state === undefined ? [] : ['--state', state];
  return [
    `Serving ${workspaces.join(', ')} at ${url}. Ctrl-C stops.`,
    '',
    'From another terminal:',
    ...aligned([
      ...calls(served).map(
        ([lane, command, meaning]) => [['exec', ...where, ...lane, '--', ...command], meaning] as const,
      ),
      [['lanes', ...where], 'what runs, what waits, and why'],
    ]),
    '',
    'From a program (LibreChat: this as the baseURL of its environment):',
    `  ${url}/v1, bearer token in ${callerTokenFile}`,
    `These facts are kept in ${connectionFile}.`,
  ].join('\n');
}

type Call = readonly [lane: readonly string[], command: readonly string[], meaning: string];

function calls({ workspaces, lanes }: Served): readonly Call[] {
  const [first = 'WORKSPACE'] = workspaces;
  const workspace = workspaces.length > 1 ? ['--workspace', first] : [];
  switch (lanes.in) {
    case 'checkout':
      return [
        [workspace, ['git', 'status'], 'a command on the whole checkout'],
        [[...workspace, '--worktree', 'a'], ['npm', 'test'], 'one in the lane of .worktrees/a'],
      ];
    case 'repository': {
      const repository = [...workspace, '--repository', lanes.repository];
      return [
        [workspace, ['ls'], 'a command on the root and all its repositories'],
        [repository, ['git', 'status'], 'one on the checkout of a repository'],
        [
          [...repository, '--worktree', 'a'],
          ['npm', 'test'],
          `one in the lane of ${lanes.repository}/.worktrees/a`,
        ],
      ];
    }
    case 'none':
      return [[workspace, ['ls'], 'a command on the root, which has no lanes']];
  }
}

function aligned(rows: readonly (readonly [words: readonly string[], meaning: string])[]): string[] {
  const lines = rows.map(([words, meaning]) => [shellLine(['codelanes', ...words]), meaning] as const);
  const width = Math.max(...lines.map(([line]) => line.length));
  return lines.map(([line, meaning]) => `  ${line.padEnd(width)}   ${meaning}`);
}
