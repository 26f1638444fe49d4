import { z } from 'zod';

/** What a bridge or worker process tells the process that started it, once it serves. */
export const readyMessageSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('bridge'), url: z.string() }),
  z.strictObject({
    kind: z.literal('worker'),
    workerId: z.string(),
    workspaces: z.array(z.string()).min(1),
    /** Where the first workspace has linked worktree lanes: in itself, in its repositories, of which one is named, or nowhere. */
    lanes: z.discriminatedUnion('in', [
      z.strictObject({ in: z.literal('checkout') }),
      z.strictObject({ in: z.literal('repository'), repository: z.string() }),
      z.strictObject({ in: z.literal('none') }),
    ]),
  }),
]);
export type ReadyMessage = z.infer<typeof readyMessageSchema>;

/** Where a workspace has linked worktree lanes. */
export type LanesOfWorkspace = ReadyMessageOf<'worker'>['lanes'];

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
