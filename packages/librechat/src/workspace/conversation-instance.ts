import { createHash } from 'node:crypto';

/**
 * The id of the clone that belongs to one conversation, as LibreChat derives it. A bridge hashes it once more with the
 * caller's principal, so that it addresses nobody else's clone.
 */
export function conversationInstanceId(
  userId: string,
  conversationId: string,
  environmentId: string,
): string {
  return createHash('sha256')
    .update('librechat-conversation-workspace-v1\0')
    .update(JSON.stringify([userId, conversationId, environmentId]))
    .digest('hex');
}
