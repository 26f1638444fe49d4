import { CodelanesError, type ErrorCode, type Operation } from '@codelanes/protocol';
import { FileRefusal, type FileFault } from '../files/refusal.js';
import { RipgrepFailure } from './ripgrep.js';

export type FileOperation = Exclude<Operation, 'execute_command'>;

type Access = 'read' | 'write';

const accessOf: Readonly<Record<FileOperation, Access>> = {
  read_file: 'read',
  search_text: 'read',
  list_files: 'read',
  preview_edit: 'read',
  write_file: 'write',
  edit_file: 'write',
};

export function isFileOperation(operation: string): operation is FileOperation {
  return operation in accessOf;
}

/** The one table from what the file system refuses to what the wire says. */
const codes: Readonly<Record<FileFault, Readonly<Record<Access, ErrorCode>>>> = {
  not_found: { read: 'NOT_FOUND', write: 'NOT_FOUND' },
  symlink: { read: 'INVALID_PATH', write: 'INVALID_PATH' },
  not_a_file: { read: 'INVALID_PATH', write: 'INVALID_PATH' },
  not_a_directory: { read: 'INVALID_PATH', write: 'INVALID_PATH' },
  outside: { read: 'INVALID_PATH', write: 'INVALID_PATH' },
  git_path: { read: 'INVALID_PATH', write: 'INVALID_PATH' },
  denied: { read: 'INVALID_PATH', write: 'WRITE_UNAVAILABLE' },
  exists: { read: 'INVALID_PATH', write: 'EDIT_CONFLICT' },
  changed: { read: 'INVALID_PATH', write: 'EDIT_CONFLICT' },
  too_large: { read: 'READ_LIMIT_EXCEEDED', write: 'WRITE_LIMIT_EXCEEDED' },
};

/** Where a path led out of the lane its name is told: the agent has lost sight of the tree that it is in. */
const confined: ReadonlySet<FileFault> = new Set(['outside', 'symlink']);

export interface FailedTool {
  readonly operation: FileOperation;
  /** As people read it. */
  readonly lane: string;
  readonly signal: AbortSignal;
}

/** What is thrown to the caller of a tool in place of an error; what no table knows is passed on as it is. */
export function toolError(error: unknown, { operation, lane, signal }: FailedTool): unknown {
  if (CodelanesError.is(error)) return error;
  if (signal.aborted && error === signal.reason) return stopped(operation, error);
  if (error instanceof FileRefusal) {
    const where = confined.has(error.fault) ? ` Paths are relative to the lane ${lane}.` : '';
    const code = codes[error.fault][accessOf[operation]];
    return new CodelanesError(code, error.message + where, { cause: error });
  }
  if (error instanceof RipgrepFailure) {
    return new CodelanesError(walkCode(operation, error.kind), error.message, { cause: error });
  }
  return error;
}

/** The signal of a call is aborted when its time is over, too; a tool looks before it begins a write. */
function stopped(operation: FileOperation, reason: unknown): CodelanesError {
  if (!(reason instanceof Error && reason.name === 'TimeoutError')) {
    return new CodelanesError('EXECUTION_ABORTED', `${operation} was stopped on request.`, { cause: reason });
  }
  const walks = operation === 'search_text' || operation === 'list_files';
  const code = walks ? walkCode(operation, 'timeout') : 'EXECUTION_ABORTED';
  return new CodelanesError(code, `${operation} did not end in the time that it was given.`, {
    cause: reason,
  });
}

function walkCode(operation: FileOperation, kind: RipgrepFailure['kind']): ErrorCode {
  if (operation === 'search_text') return kind === 'timeout' ? 'SEARCH_TIMEOUT' : 'SEARCH_UNAVAILABLE';
  return kind === 'timeout' ? 'LIST_TIMEOUT' : 'LIST_UNAVAILABLE';
}
