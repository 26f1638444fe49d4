export interface Served {
  readonly url: string;
  readonly workspaces: readonly string[];
  readonly connectionFile: string;
  readonly callerTokenFile: string;
}

/** What `codelanes up` tells once everything serves. */
export function howToCall({ url, workspaces, connectionFile, callerTokenFile }: Served): string {
  const [first = 'WORKSPACE'] = workspaces;
  const workspace = workspaces.length > 1 ? ` --workspace ${first}` : '';
  return [
    `Serving ${workspaces.join(', ')} at ${url}. Ctrl-C stops.`,
    '',
    'From another terminal:',
    `  codelanes exec${workspace} -- git status                 a command on the whole checkout`,
    `  codelanes exec${workspace} --worktree a -- npm test      one in the lane of .worktrees/a`,
    '  codelanes lanes                                what runs, what waits, and why',
    '',
    'From a program (LibreChat: this as the baseURL of its environment):',
    `  ${url}/v1, bearer token in ${callerTokenFile}`,
    `These facts are kept in ${connectionFile}.`,
  ].join('\n');
}
