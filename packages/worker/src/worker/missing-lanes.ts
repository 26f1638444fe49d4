import type { Logger } from 'pino';
import type { CompiledOptions } from './options.js';
import type { ServedRoot } from './served-root.js';

/** Says of a root which lanes were asked for and are not offered, and why. */
export function warnOfMissingLanes(root: ServedRoot, { roots }: CompiledOptions, log: Logger): void {
  const wanted = roots.find(({ id }) => id === root.id)?.linkedWorktreeLanes === true;
  // A folder of repositories has its lanes in them.
  if (wanted && root.layout.kind === 'plain' && root.repositories.length === 0) {
    log.warn({ workspace: root.id }, `Served as one lane, without linked worktree lanes. ${root.layout.why}`);
  }
  for (const { workspaceId, setups, hasLanes } of root.repositories) {
    if (setups === undefined || hasLanes) continue;
    log.warn(
      { workspace: workspaceId },
      'Its setup is never run, as its worktrees are no lanes: say "linkedWorktreeLanes: true" in the definition.',
    );
  }
}
