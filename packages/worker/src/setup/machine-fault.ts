import { getSystemErrorMap } from 'node:util';
import { CodelanesError } from '@codelanes/protocol';
import { FileRefusal } from '../files/refusal.js';

/** What the system says where the same request may be granted later: disk, memory or descriptors are used up. */
const usedUp: ReadonlySet<unknown> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EIO',
  'EROFS',
  'ENOMEM',
  'EAGAIN',
  'EMFILE',
  'ENFILE',
]);

/**
 * Why a setup could not begin, as one sentence that names no place of the machine, where that lies at the machine or
 * at the worker; `undefined` where it lies at the definition or at what stands in the checkout or the worktree.
 */
export function machineFault(error: unknown): string | undefined {
  if (CodelanesError.is(error)) return error.code === 'COMMAND_UNAVAILABLE' ? error.message : undefined;
  if (error instanceof FileRefusal) return usedUp.has(codeOf(error.cause)) ? error.message : undefined;
  return `The worker could not begin it: ${wordsOf(error)}.`;
}

/** The same of a setup whose record and log could not be made, whatever stood in their way. */
export function bookkeepingFault(error: unknown): string {
  const cause = error instanceof FileRefusal ? error.cause : error;
  return `Its record or its log cannot be written: ${wordsOf(cause)}.`;
}

function wordsOf(error: unknown): string {
  const errno = error instanceof Error && 'errno' in error ? error.errno : undefined;
  const known = typeof errno === 'number' ? getSystemErrorMap().get(errno) : undefined;
  return known?.[1] ?? 'the log of the worker says why';
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
