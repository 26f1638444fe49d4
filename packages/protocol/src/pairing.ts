import { z } from 'zod';
import { workerIdSchema } from './identifiers.js';
import { credentialSchema } from './proof.js';

const protocolVersion = z.literal(1);
const bindingIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:@|-]{0,127}$/, 'expected 1 to 128 of A-Z a-z 0-9 . _ : @ | -');

/**
 * For whom a worker works: callers of that tenant, and of these all (`deployment`, `tenant`), one user, those of a
 * role, or a group, which LibreChat vouches for by naming the worker in its token.
 */
export const bindingSchema = z.strictObject({
  tenantId: bindingIdSchema,
  principal: z.strictObject({
    type: z.enum(['deployment', 'tenant', 'user', 'role', 'group']),
    id: bindingIdSchema,
  }),
});
export type Binding = z.infer<typeof bindingSchema>;

/** `POST /v1/bridge/pairings`, of the administrator. */
export const pairingRequestSchema = z.strictObject({
  protocolVersion: protocolVersion.optional(),
  workerId: workerIdSchema,
  /** Left out, the worker works for every caller of the bridge. */
  binding: bindingSchema.optional(),
});
export type PairingRequest = z.infer<typeof pairingRequestSchema>;

/** 24 random bytes; who has it may become that worker, once. */
export const pairingCodeSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{32}$/, 'expected the 32 characters of a pairing code');

export const pairingReplySchema = z.object({
  protocolVersion,
  workerId: workerIdSchema,
  code: pairingCodeSchema,
  expiresAt: z.iso.datetime(),
});
export type PairingReply = z.infer<typeof pairingReplySchema>;

/** `POST /v1/bridge/pairings/redeem`, of whoever has the code. */
export const redeemRequestSchema = z.strictObject({
  protocolVersion,
  code: pairingCodeSchema,
  /** Where it is sent, the code has to be for that worker. */
  workerId: workerIdSchema.optional(),
  /** Ed25519, as PEM of its SubjectPublicKeyInfo. */
  publicKey: z.string().max(4096),
});
export type RedeemRequest = z.infer<typeof redeemRequestSchema>;

/** The reply to a redemption and to a refresh. */
export const issuedCredentialSchema = z.object({
  protocolVersion,
  workerId: workerIdSchema,
  credential: credentialSchema,
  expiresAt: z.iso.datetime(),
});
export type IssuedCredential = z.infer<typeof issuedCredentialSchema>;

/** `POST /v1/bridge/workers/:id/credentials/refresh`, signed by the worker. */
export const refreshRequestSchema = z.strictObject({ protocolVersion });

export const revokeReplySchema = z.object({ protocolVersion, revoked: z.literal(true) });
export type RevokeReply = z.infer<typeof revokeReplySchema>;
