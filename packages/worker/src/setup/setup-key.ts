import { createHash } from 'node:crypto';
import type { RepositorySetup } from '../environment/setup.js';

/** Tells one definition of a setup from another: SHA-256 in hex. */
export function setupHash({ command, timeoutMs, idleTimeoutMs, copy = [] }: RepositorySetup): string {
  const text = JSON.stringify({ command, timeoutMs, idleTimeoutMs, copy });
  return createHash('sha256').update(text).digest('hex');
}
