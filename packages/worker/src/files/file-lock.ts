import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** `flock` does not run, so nothing can be locked. */
export class LockingFailed extends Error {
  override readonly name = 'LockingFailed';

  constructor(cause: unknown) {
    super('flock does not run: install util-linux.', { cause });
  }
}

/**
 * Locks an open file if nobody else has it locked; says whether it did. The kernel gives the lock up when the
 * descriptor is closed, or its process ends, however it ends.
 *
 * @throws {LockingFailed}
 */
export function tryLock(fd: number): boolean {
  // flock(1) locks the open file that it shares with this process, so the lock outlives it.
  const { status, error } = spawnSync('flock', ['-xn', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
  if (status === 0) return true;
  if (error === undefined && status === 1) return false;
  throw new LockingFailed(error);
}

/**
 * As `tryLock`, but waits until the file is free.
 *
 * @throws {LockingFailed}
 * @throws the reason of `signal` where that ends the wait; nothing is locked then.
 */
export async function waitForLock(fd: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const flock = spawn('flock', ['-x', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd], signal });
  try {
    const exit: unknown[] = await once(flock, 'exit');
    if (exit[0] !== 0 && !signal.aborted) throw new LockingFailed(undefined);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof LockingFailed ? error : new LockingFailed(error);
  }
  signal.throwIfAborted();
}
