import { z } from 'zod';

/** What a bridge or worker process tells the process that started it, once it serves. */
export const readyMessageSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('bridge'), url: z.string() }),
  z.strictObject({ kind: z.literal('worker'), workerId: z.string(), workspaces: z.array(z.string()).min(1) }),
]);
export type ReadyMessage = z.infer<typeof readyMessageSchema>;

/** Tells the parent, where there is one that listens; returns whether there is. */
export function announceReady(message: ReadyMessage): boolean {
  return process.send?.(message) ?? false;
}

/** The message of the one kind of process that can have sent it. */
export type ReadyMessageOf<Kind extends ReadyMessage['kind']> = Extract<ReadyMessage, { kind: Kind }>;

export function isReadyMessageOf<Kind extends ReadyMessage['kind']>(
  kind: Kind,
  message: ReadyMessage,
): message is ReadyMessageOf<Kind> {
  return message.kind === kind;
}
