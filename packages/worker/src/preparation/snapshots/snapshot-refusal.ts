import { LockingFailed } from '../../files/file-lock.js';
import { FileRefusal } from '../../files/refusal.js';
import { PreparationError } from '../preparation-error.js';

/** Why a snapshot is not kept or not restored, as a sentence; setup runs in full in its place. */
export class SnapshotRefusal extends Error {
  override readonly name: string = 'SnapshotRefusal';
}

/**
 * What to say of an error that only costs a snapshot: a refusal, or what the file system answered. `undefined` for one
 * that is a fault of the worker.
 */
export function costOfSnapshot(error: unknown): string | undefined {
  const refusals = [SnapshotRefusal, FileRefusal, LockingFailed, PreparationError];
  if (error instanceof Error && refusals.some((kind) => error instanceof kind)) return error.message;
  if (error instanceof Error && 'code' in error && 'syscall' in error) return `${error.message}.`;
  return undefined;
}
