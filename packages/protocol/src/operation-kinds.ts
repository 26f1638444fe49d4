import type { CallOperation, CallRequest } from './call.js';
import type { Mode, Pool } from './lane.js';

export interface OperationKind {
  /** `shared` only where the worker advertises shared reads; else such a call is exclusive too. */
  readonly mode: Mode;
  readonly pool: Pool;
}

/**
 * Mode and pool of every operation: the one table that bridge and worker both use, never the wire. A setup is shared,
 * so that it keeps off all that can change its lane and lets reads go on.
 */
export const operationKinds: Readonly<Record<CallOperation, OperationKind>> = {
  read_file: { mode: 'shared', pool: 'file' },
  search_text: { mode: 'shared', pool: 'file' },
  list_files: { mode: 'shared', pool: 'file' },
  preview_edit: { mode: 'shared', pool: 'file' },
  write_file: { mode: 'exclusive', pool: 'file' },
  edit_file: { mode: 'exclusive', pool: 'file' },
  execute_command: { mode: 'exclusive', pool: 'command' },
  setup: { mode: 'shared', pool: 'command' },
  run_script: { mode: 'exclusive', pool: 'command' },
  resume_script: { mode: 'exclusive', pool: 'command' },
};

/** Whether a request is a digest-fenced read of repository instructions, which takes no lane and no pool. */
export function isInstructionRead(request: CallRequest): boolean {
  return request.operation === 'read_file' && request.instructionSha256 !== undefined;
}

/** Mode of one request at a worker that does or does not advertise shared reads. */
export function modeOf(operation: CallOperation, sharedReads: boolean): Mode {
  return sharedReads ? operationKinds[operation].mode : 'exclusive';
}
