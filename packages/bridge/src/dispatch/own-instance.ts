import { createHash } from 'node:crypto';

/**
 * The instance that a caller means by an id: ids are each caller's own, so that nobody who learns the id of another
 * one's clone can name it. The same id of the same caller is always the same instance.
 */
export function ownInstanceId(principal: string, instanceId: string): string {
  const text = JSON.stringify(['codelanes instance', principal, instanceId]);
  return createHash('sha256').update(text).digest('hex');
}
