import { operationSchema } from '@codelanes/protocol';
import type { Capabilities, Operation } from '@codelanes/protocol';

/** Whether reads of one lane run side by side here. */
export const sharedReads = true;

/** A root as it can be offered: what verification and the sandbox's self-test found out about it. */
export interface OfferedRoot {
  readonly id: string;
  /** The root is a checkout whose linked worktrees are lanes, and the operator opted in. */
  readonly hasLanes: boolean;
}

/** What this worker advertises. Without commands (no working sandbox) the file tools are still offered. */
export function capabilitiesOf(roots: readonly OfferedRoot[], commands: boolean): Capabilities {
  const operations: Operation[] = operationSchema.options.filter(
    (operation) => commands || operation !== 'execute_command',
  );
  return {
    statefulWorkspace: true,
    sandboxProfile: commands ? 'codelanes-bubblewrap' : 'codelanes-no-commands',
    runtimes: commands ? ['bash'] : [],
    sharedReads,
    workspaceTools: {
      protocolVersion: 1,
      operations,
      workspaces: roots.map(({ id, hasLanes }) => ({
        id,
        name: id,
        ...(hasLanes ? { workspaceScopes: ['git_linked_worktree' as const] } : {}),
      })),
      writeFileModes: ['replace', 'create'],
      editFileModes: ['single', 'batch'],
      editFileFeatures: ['expected_base_sha256', 'tolerant_match', 'replace_all'],
      listFileFeatures: ['after_path'],
    },
  };
}
